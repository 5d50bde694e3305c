package test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	metricName  = regexp.MustCompile("`(coredns_(?:hosts|forward|proxy|etcd|fastudp)_[a-z_]+)")
	metricEntry = regexp.MustCompile("(?m)^\\* `(coredns_(?:hosts|forward|proxy|etcd|fastudp)_[a-z_]+)\\{")
)

// Whoever operates the server finds every metric of ours explained, and none that does not exist.
func TestOperationsExplainsEveryMetric(t *testing.T) {
	documented := make(map[string]bool)
	for _, plugin := range []string{"hosts", "forward", "etcd", "fastudp"} {
		for _, m := range metricEntry.FindAllStringSubmatch(read(t, "../"+plugin+"/README.md"), -1) {
			documented[m[1]] = true
		}
	}
	if len(documented) < 40 {
		t.Fatalf("only %d metrics are in the READMEs: the pattern is wrong", len(documented))
	}
	explained := make(map[string]bool)
	for _, m := range metricName.FindAllStringSubmatch(read(t, "../docs/operations.md"), -1) {
		explained[m[1]] = true
		if !documented[m[1]] {
			t.Errorf("%s is explained, but no README has it", m[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if !explained[name] {
			t.Errorf("docs/operations.md does not explain %s", name)
		}
	}
}

var (
	fenced  = regexp.MustCompile("(?ms)^[ \t]*(~~~|```).*?^[ \t]*(~~~|```)[ \t]*$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

// Links between documents lead to files and headings that exist.
func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	links := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, path), ""), -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // elsewhere
			}
			links++
			at := path
			if target != "" {
				at = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s: %s: %v", path, m[1], err)
				continue
			}
			if fragment != "" && !slices.Contains(anchors(read(t, at)), fragment) {
				t.Errorf("%s: %s: no such heading", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 20 {
		t.Errorf("only %d links: the pattern is wrong", links)
	}
}

// anchors are the headings of a document as links name them.
func anchors(text string) (names []string) {
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				b.WriteRune(r)
			}
		}
		names = append(names, b.String())
	}
	return names
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
