package hosts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coredns/caddy"
)

func parseText(t *testing.T, text string) ([]config, error) {
	t.Helper()
	return parse(caddy.NewTestController("dns", text))
}

// Every property has one row that loads and one that does not. Errors name the line, the property and what is wanted.
func TestProperties(t *testing.T) {
	tests := []struct {
		good  string
		check func(config) bool
		bad   string
		wants []string
	}{
		{"ttl 60", func(c config) bool { return c.ttl == 60 }, "ttl 0", []string{"ttl", "1 to 65535"}},
		{"ttl 60 seconds", func(c config) bool { return c.ttl == 60 }, "ttl", []string{"ttl", "seconds"}},
		{"reload 0", func(c config) bool { return c.reload == 0 }, "reload 5", []string{"reload", `"5"`, "5s"}},
		{"reload 250ms", func(c config) bool { return c.reload == 250*time.Millisecond }, "reload -1s", []string{"reload"}},
		{"no_reverse", func(c config) bool { return !c.reverse }, "no_reverse x", []string{`"x"`, "property"}},
		{"nxdomain", func(c config) bool { return c.nxdomain }, "nxdomain org", []string{"nxdomain", "no argument"}},
		{"fallthrough", func(c config) bool { return slices.Equal(c.fallthroughs.Zones, []string{"."}) },
			"falltrough", []string{"falltrough", "fallthrough"}},
		{"fallthrough\nfallthrough_unsupported", func(c config) bool { return c.fallUnsupported },
			"fallthrough_unsupported", []string{"needs fallthrough"}},
		{"fallthrough_unsupported\nfallthrough org", func(c config) bool { return c.fallUnsupported },
			"fallthrough\nfallthrough_unsupported org", []string{"no argument"}},
		{"wildcards deep", func(c config) bool { return c.deepWildcards }, "wildcards shallow", []string{"one", "deep"}},
		{"file a b\nfile c", func(c config) bool { return slices.Equal(c.files, []string{"a", "b", "c"}) && c.file == "" },
			"file [", []string{"file", "["}},
		{"block a\nblock b", func(c config) bool { return slices.Equal(c.blockLists, []string{"a", "b"}) },
			"block", []string{"block", "list"}},
		{"allow a", func(c config) bool { return slices.Equal(c.allowLists, []string{"a"}) },
			"allow ftp://example.org/x", []string{"allow", "https://"}},
		{"block_reply refused", func(c config) bool { return c.reply == replyRefused },
			"block_reply drop", []string{"block_reply", "nxdomain"}},
		{"10.0.0.1 a b", func(c config) bool { return slices.Equal(c.inline, []string{"10.0.0.1 a b"}) },
			"10.0.0.1", []string{"without a name"}},
		{"::1 a\nfallthrough\n::2 b", func(c config) bool { return len(c.inline) == 2 },
			"10.0.0.1 a..b", []string{"a..b", "empty label"}},
		{"10.0.0.1 xn--bcher-kva.example", func(c config) bool { return len(c.inline) == 1 },
			"10.0.0.1 b\u00fccher.example", []string{"not ASCII"}},
		{"fe80::1%eth0 a", func(c config) bool { return len(c.inline) == 1 },
			"010.0.0.1 a", []string{"010.0.0.1", "IP address"}},
	}
	for _, tt := range tests {
		blocks, err := parseText(t, "hosts {\n"+tt.good+"\n}")
		if err != nil || len(blocks) != 1 || !tt.check(blocks[0]) {
			t.Errorf("%q: got %+v, %v", tt.good, blocks, err)
		}
		_, err = parseText(t, "hosts {\n"+tt.bad+"\n}")
		if err == nil {
			t.Errorf("%q: no error", tt.bad)
			continue
		}
		for _, want := range append(tt.wants, "Testfile:") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %q does not say %q", tt.bad, err, want)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	tests := []struct {
		text    string
		file    string
		origins []string
	}{
		{"hosts", "/etc/hosts", nil},
		{"hosts {\n 10.0.0.1 a\n}", "/etc/hosts", nil},
		{"hosts /tmp", "/tmp", nil},
		{"hosts /etc/hosts miek.nl. pun.gent", "/etc/hosts", []string{"miek.nl.", "pun.gent."}},
		{"hosts /etc/hosts MIEK.nl 10.0.0.9/8", "/etc/hosts", []string{"miek.nl.", "10.in-addr.arpa."}},
		{"hosts {\n file a\n}", "", nil},
	}
	for _, tt := range tests {
		blocks, err := parseText(t, tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if b := blocks[0]; b.file != tt.file || !slices.Equal(b.origins, tt.origins) {
			t.Errorf("%q: file %q, origins %q", tt.text, b.file, b.origins)
		}
	}
}

func TestSeveralBlocks(t *testing.T) {
	blocks, err := parseText(t, "hosts a example.org\nhosts b example.net {\n ttl 5\n}")
	if err != nil || len(blocks) != 2 || blocks[0].file != "a" || blocks[1].ttl != 5 || blocks[0].ttl != 3600 {
		t.Errorf("got %+v, %v", blocks, err)
	}
}

// What makes no sense loads, but not in silence.
func TestWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"hosts {\n allow a\n}":                                                       "allow",
		"hosts {\n allow a\n block b\n}":                                             "",
		"hosts {\n cache_dir a\n block b\n}":                                         "cache_dir",
		"hosts {\n cache_dir a\n block http://b\n}":                                  "",
		"hosts a\nhosts b example.org":                                               "block 2",
		"hosts a org\nhosts b example.org example.net":                               "",
		"hosts a {\n fallthrough net\n}\nhosts b example.org":                        "",
		"hosts a org net {\n ttl 5\n}\nhosts b com\nhosts c example.org example.net": "block 3",
	} {
		blocks, err := parse(caddy.NewTestController("dns", strings.ReplaceAll(text, "hosts a\n", "hosts a .\n")))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(warnings(blocks), "; ")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
