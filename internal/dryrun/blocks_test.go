package dryrun

import (
	"fmt"
	"log"
	"slices"
	"strings"
	"testing"

	"github.com/coredns/caddy/caddyfile"
)

func TestSnippetsThatNothingImportsAreFound(t *testing.T) {
	for _, tt := range []struct {
		corefile string
		want     string
	}{
		{". {\n log\n}\n", "[]"},
		{"(a) {\n log\n}\n. {\n import a\n}\n", "[]"},
		{"(a) {\n log\n}\n\n(b) {\n log {\n  class all\n }\n}\n. {\n import a\n}\n", "[{b 5}]"},
		{"(a) {\n log\n}\n. {\n import \"a\"\n}\n", "[]"},
		{"(a) {\n log\n}\n. {\n template IN A {\n  answer (b)\n }\n}\n", "[{a 1}]"},
	} {
		if got := fmt.Sprint(unused("Corefile", []byte(tt.corefile))); got != tt.want {
			t.Errorf("%s, want %s of\n%s", got, tt.want, tt.corefile)
		}
	}
}

func TestZonesServedTwiceAreFound(t *testing.T) {
	for _, tt := range []struct {
		corefile string
		want     int
	}{
		{"a:53 {\n log\n}\nb:53 {\n log\n}\n", 0},
		{"a:53 {\n log\n}\na:54 {\n log\n}\n", 0},
		{"a:53 {\n log\n}\na:53 {\n log\n}\n", 1},
		{"a:53 b:53 {\n log\n}\nb:53 a:53 {\n log\n}\n", 2},
		{"a:53 {\n bind 127.0.0.1\n}\na:53 {\n bind 127.0.0.2\n}\n", 0},
		{"a:53 {\n bind 127.0.0.1 127.0.0.3\n}\na:53 {\n bind 127.0.0.2 127.0.0.3\n}\n", 1},
		{"a:53 {\n bind 127.0.0.1\n}\na:53 {\n log\n}\n", 1},
		{"a:53 {\n bind eth0 {\n  except 127.0.0.1\n }\n}\na:53 {\n bind 127.0.0.1\n}\n", 0},
		{"a:53 {\n view v {\n  expr true\n }\n}\na:53 {\n log\n}\n", 0},
	} {
		blocks, err := caddyfile.Parse("Corefile", strings.NewReader(tt.corefile), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := overlaps(blocks); len(got) != tt.want {
			t.Errorf("%q, want %d of\n%s", got, tt.want, tt.corefile)
		}
	}
}

func TestWarningsOfSetUpAreFindings(t *testing.T) {
	lines, restore := capture()
	defer restore()
	log.Print("[INFO] plugin/hosts: nothing")
	log.Print("[WARNING] plugin/hosts: first: of all")
	log.Print("[WARNING] plugin/hosts: first: of all")
	log.Print("[ERROR] second")
	log.Print("bare")
	var got []string
	for _, f := range lines.take() {
		got = append(got, f.Level.String()+" "+f.Detail)
	}
	if want := []string{"warning first: of all", "warning second"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if left := lines.take(); len(left) > 0 {
		t.Errorf("%+v is told twice", left)
	}
}
