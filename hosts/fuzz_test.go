package hosts

import (
	"strings"
	"testing"

	"github.com/coredns/caddy"
)

// Whatever a Corefile says, it is refused with the name of the file, or what it says can be started.
func FuzzCorefile(f *testing.F) {
	for _, s := range []string{
		"hosts", "hosts a b {\n 10.0.0.1 a\n ttl 5\n}", "hosts {\n url http://127.0.0.1:1/x\n cache_dir x\n}",
		"hosts {\n block a https://example.org/\n allow b\n block_reply refused\n}", "hosts {\n fallthrough a b\n}",
		"hosts {\n file [\n}", "hosts {\n \"10.0.0.1 a\"\n}", "hosts {\n wildcards deep\n reload 0\n}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "import") || strings.Contains(text, "{$") || strings.Contains(text, "{%") {
			t.Skip("reads files and the environment")
		}
		blocks, err := parse(caddy.NewTestController("dns", text))
		if err != nil {
			if !strings.Contains(err.Error(), "Testfile") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, b := range blocks {
			if b.ttl == 0 || b.reload < 0 || b.urlRefresh < minURLRefresh {
				t.Fatalf("%q: %+v", text, b)
			}
			h := newHosts(b)
			if h.loaded() || len(h.zones) > len(b.origins) {
				t.Fatalf("%q: %+v", text, h)
			}
			if len(b.inline) > 0 {
				if p, err := inlinePart(b.inline); err != nil || p.Entries() == 0 {
					t.Fatalf("%q: inline lines that were accepted: %v, %v", text, p, err)
				}
			}
		}
	})
}
