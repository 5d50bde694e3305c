package forward

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// found lists what the group of pattern matches in text, each once.
func found(pattern, text string) []string {
	var list []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func TestReadmeHasEveryPropertyInSyntaxAndAsABullet(t *testing.T) {
	readme := readFile(t, "README.md")
	var want []string
	for name := range properties {
		want = append(want, name)
	}
	slices.Sort(want)
	_, syntax, _ := strings.Cut(readme, "forward FROM TO... {\n")
	syntax, bullets, _ := strings.Cut(syntax, "}\n~~~")
	bullets, _, _ = strings.Cut(bullets, "\n## ")
	if got := found(`(?m)^    ([a-z_]+)`, syntax); !slices.Equal(got, want) {
		t.Errorf("the syntax has %v, the plugin reads %v", got, want)
	}
	if got := found("(?m)^\\* `([a-z_]+)`", bullets); !slices.Equal(got, want) {
		t.Errorf("there are bullets for %v, the plugin reads %v", got, want)
	}
	for _, bullet := range strings.Split(bullets, "\n* ")[1:] {
		if !strings.Contains(bullet, "Default:") {
			t.Errorf("no default: %s", bullet)
		}
	}
}

func TestReadmeHasEveryMetricAndNoOther(t *testing.T) {
	var want []string
	for file, subsystem := range map[string]string{"metrics.go": "forward", "../internal/upstream/metrics.go": "proxy"} {
		for _, name := range found(`Name:\s+"(\w+)"`, readFile(t, file)) {
			want = append(want, "coredns_"+subsystem+"_"+name)
		}
	}
	slices.Sort(want)
	if got := found("(?m)^\\* `(coredns_\\w+)", readFile(t, "README.md")); !slices.Equal(got, want) {
		t.Errorf("documented are %v\nregistered are %v", got, want)
	}
}
