package compilein

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var (
	errNoLine = errors.New("plugin.cfg has no such line")
	errTwice  = errors.New("plugin.cfg has the line twice")
)

// added says after which directive a new one goes in: what plugin.cfg.example says in words.
var added = map[string]string{"fastudp": "shed"}

// entries returns the lines of a plugin.cfg that name a plugin.
func entries(cfg string) (lines []string) {
	for s := bufio.NewScanner(strings.NewReader(cfg)); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// replace puts the lines of example into cfg: each in the place of the line of its name, or after the one that added
// names.
func replace(cfg, example string) (string, error) {
	lines := strings.Split(cfg, "\n")
	for _, entry := range entries(example) {
		name, _, _ := strings.Cut(entry, ":")
		after, isNew := added[name]
		if !isNew {
			after = name
		}
		begins := func(line string) bool { return strings.HasPrefix(line, after+":") }
		i := slices.IndexFunc(lines, begins)
		switch {
		case i < 0:
			return "", fmt.Errorf("%w: %s", errNoLine, after)
		case slices.ContainsFunc(lines[i+1:], begins):
			return "", fmt.Errorf("%w: %s", errTwice, after)
		case isNew:
			lines = slices.Insert(lines, i+1, entry)
		default:
			lines[i] = entry
		}
	}
	return strings.Join(lines, "\n"), nil
}

func TestTheLinesReplaceThoseOfTheirNames(t *testing.T) {
	const cfg = "# comment\nshed:shed\nhosts:hosts\n\netcd:etcd\n"
	for _, tt := range []struct {
		example, want string
		err           error
	}{
		{"# hosts:no\nhosts:x/hosts\n", "# comment\nshed:shed\nhosts:x/hosts\n\netcd:etcd\n", nil},
		{"etcd:x/etcd\nfastudp:x/fastudp\n", "# comment\nshed:shed\nfastudp:x/fastudp\nhosts:hosts\n\netcd:x/etcd\n", nil},
		{"forward:x/forward\n", "", errNoLine},
		{"hosts:x/hosts\nshed:x/shed\n", "# comment\nshed:x/shed\nhosts:x/hosts\n\netcd:etcd\n", nil},
	} {
		got, err := replace(cfg, tt.example)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%v, %q; want %v, %q", err, got, tt.err, tt.want)
		}
	}
	if _, err := replace("hosts:a\nhosts:b\n", "hosts:x\n"); !errors.Is(err, errTwice) {
		t.Errorf("%v, want %v", err, errTwice)
	}
}
