package hosts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/coredns/coredns/plugin/metadata"
	"github.com/coredns/coredns/plugin/test"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

const blocklist = `
# hosts lines, bare names and everything below
0.0.0.0 ads.example
127.0.0.1 localhost
tracker.example
*.evil.example
*.zip
good.ads.test
*.ads.test
`

// writeAs makes a file of a given name and returns its path.
func writeAs(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBlockedNames(t *testing.T) {
	file, lists := write(t, "10.0.0.1 mine.evil.example\n10.0.0.2 *.tracker.example\n10.0.0.3 *.evil.example\n"),
		writeAs(t, "block", blocklist)
	allow := writeAs(t, "allow", "*.good.ads.test\nfine.zip\n")
	s := serve(t, file, fmt.Sprintf("block %s\nallow %s\nfallthrough", lists, allow))
	check(t, s, []question{
		{"ads.example.", dns.TypeA, "0.0.0.0"},
		{"ADS.example.", dns.TypeAAAA, "::"},
		{"ads.example.", dns.TypeTXT, "NODATA"},
		{"ads.example.", dns.TypeHTTPS, "NODATA"},
		{"ads.example.", dns.TypePTR, "NODATA"},
		{"x.ads.example.", dns.TypeA, fellThrough},
		{"tracker.example.", dns.TypeA, "0.0.0.0"},
		{"x.tracker.example.", dns.TypeA, "10.0.0.2"},
		{"evil.example.", dns.TypeA, "0.0.0.0"},
		{"x.y.evil.example.", dns.TypeA, "0.0.0.0"},
		{"any.zip.", dns.TypeA, "0.0.0.0"},
		{"localhost.", dns.TypeA, fellThrough},
		// Entries of one's own win, wildcards do not.
		{"mine.evil.example.", dns.TypeA, "10.0.0.1"},
		{"mine.evil.example.", dns.TypeAAAA, "NODATA"},
		{"other.evil.example.", dns.TypeA, "0.0.0.0"},
		// What is allowed is not blocked, though a list to block is more exact.
		{"good.ads.test.", dns.TypeA, fellThrough},
		{"x.good.ads.test.", dns.TypeA, fellThrough},
		{"bad.ads.test.", dns.TypeA, "0.0.0.0"},
		{"fine.zip.", dns.TypeA, fellThrough},
	})
}

func TestBlockReply(t *testing.T) {
	for reply, want := range map[string]string{"null": "0.0.0.0", "nxdomain": "NXDOMAIN", "nodata": "NODATA", "refused": "REFUSED"} {
		t.Run(reply, func(t *testing.T) {
			s := serve(t, "/dev/null", fmt.Sprintf("block %s\nblock_reply %s", writeAs(t, "block", blocklist), reply))
			check(t, s, []question{{"ads.example.", dns.TypeA, want}})
			m := new(dns.Msg)
			m.SetQuestion("ads.example.", dns.TypeA)
			m.SetEdns0(1232, false)
			r := s.Exchange(t, m, "udp")
			opt := r.IsEdns0()
			if opt == nil || len(opt.Option) != 1 {
				t.Fatalf("want an extended error (RFC 8914 section 4.16), got\n%v", r)
			}
			if ede, ok := opt.Option[0].(*dns.EDNS0_EDE); !ok || ede.InfoCode != dns.ExtendedErrorCodeBlocked {
				t.Errorf("got the option %v", opt.Option[0])
			}
			if negative := reply == "nxdomain" || reply == "nodata"; negative != (len(r.Ns) == 1) {
				t.Errorf("%d records in the authority section (RFC 2308 section 3)", len(r.Ns))
			}
		})
	}
}

func TestBlockingStaysInsideTheZones(t *testing.T) {
	s := server.Start(t, fmt.Sprintf(".:0 {\n hosts /dev/null example {\n block %s\n fallthrough\n}\n whoami\n}\n",
		writeAs(t, "block", blocklist)))
	check(t, s, []question{
		{"ads.example.", dns.TypeA, "0.0.0.0"},
		{"any.zip.", dns.TypeA, fellThrough},
	})
}

// Hits are counted by the list as the Corefile names it, whatever number of files it is.
func TestHitsAreCountedByList(t *testing.T) {
	first, second := writeAs(t, "first", "ads.example\n"), writeAs(t, "second", "ads.example\nother.example\n")
	allow := writeAs(t, "allow", "other.example\n")
	s := serve(t, "/dev/null", fmt.Sprintf("block %s %s\nallow %s\nfallthrough", first, second, filepath.Dir(allow)))
	for range 3 {
		s.Ask(t, "ads.example.", dns.TypeA)
	}
	s.Ask(t, "other.example.", dns.TypeA)
	s.Ask(t, "unlisted.example.", dns.TypeA)
	addr := "dns://:0"
	for _, tt := range []struct {
		list, action string
		want         float64
	}{{first, "block", 3}, {second, "block", 0}, {filepath.Dir(allow), "allow", 1}} {
		if got := value(t, listHits.WithLabelValues(addr, tt.list, tt.action)); got != tt.want {
			t.Errorf("%s %s: %v hits, want %v", tt.action, tt.list, got, tt.want)
		}
	}
	if got := value(t, entries.WithLabelValues(second)); got != 2 {
		t.Errorf("%v names in the second list, want 2", got)
	}
}

func TestMetadataNamesTheList(t *testing.T) {
	cfg := newConfig()
	cfg.origins, cfg.reload = []string{"."}, 0
	cfg.blockLists, cfg.allowLists = []string{writeAs(t, "block", "a.example\nb.example\n")}, []string{writeAs(t, "allow", "b.example\n")}
	h := startBlock(t, cfg)
	for name, want := range map[string][2]string{
		"a.example.": {"hosts/block", cfg.blockLists[0]}, "b.example.": {"hosts/allow", cfg.allowLists[0]}, "c.example.": {},
	} {
		ctx := metadata.ContextWithMetadata(context.Background())
		q := new(dns.Msg)
		q.SetQuestion(name, dns.TypeA)
		if _, err := h.ServeDNS(ctx, sink{&test.ResponseWriter{}}, q); err != nil {
			t.Fatal(err)
		}
		labels := metadata.Labels(ctx)
		switch {
		case want[0] == "" && len(labels) == 0:
		case len(labels) != 1 || labels[0] != want[0] || metadata.ValueFunc(ctx, want[0])() != want[1]:
			t.Errorf("%s: labels %v, want %v", name, labels, want)
		}
	}
}
