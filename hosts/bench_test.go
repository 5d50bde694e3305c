package hosts

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/coredns/coredns/plugin/test"
	"github.com/trident-dns/trident/internal/shared"

	"github.com/miekg/dns"
)

// startBlock runs one block without a server.
func startBlock(t testing.TB, cfg config) *Hosts {
	t.Helper()
	h := newHosts(cfg)
	h.Next = test.NextHandler(dns.RcodeNotZone, nil) // no other way to get this code
	owner := shared.New()
	t.Cleanup(owner.Release)
	if err := h.start(owner); err != nil {
		t.Fatal(err)
	}
	return h
}

// sink takes answers without looking at them.
type sink struct{ *test.ResponseWriter }

func (sink) WriteMsg(*dns.Msg) error { return nil }

// bigFile has n names, all with one address, as a list to block has.
func bigFile(b *testing.B, n int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "hosts")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range n {
		_, _ = fmt.Fprintf(w, "0.0.0.0 ad%07d.tr%05d.example\n", i, i/4) // Flush returns the error
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}

// One question through the plugin. What it allocates is the answer.
func BenchmarkServeDNS(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		cfg := newConfig()
		cfg.file, cfg.origins, cfg.reload = bigFile(b, n), []string{"."}, 0
		h := startBlock(b, cfg)
		for _, q := range []struct {
			kind, name string
			qtype      uint16
		}{
			{"hit", fmt.Sprintf("ad%07d.tr%05d.example.", n/2, n/8), dns.TypeA},
			{"nodata", fmt.Sprintf("ad%07d.tr%05d.example.", n/2, n/8), dns.TypeAAAA},
			{"miss", "nowhere.example.", dns.TypeA},
			{"ptr", "0.0.0.0.in-addr.arpa.", dns.TypePTR},
		} {
			b.Run(fmt.Sprintf("%s/%d", q.kind, n), func(b *testing.B) {
				m, w := new(dns.Msg), sink{&test.ResponseWriter{}}
				m.SetQuestion(q.name, q.qtype)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := h.ServeDNS(context.Background(), w, m); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
