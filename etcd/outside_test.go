package etcd

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/test"

	"github.com/trident-dns/trident/plugin/backend"

	"github.com/trident-dns/trident/etcd/mirror"

	"github.com/miekg/dns"
	dto "github.com/prometheus/client_model/go"
)

// pairs are lines "KEY VALUE" as a list of etcd.
func pairs(lines string) iter.Seq2[mirror.KV, error] {
	return func(yield func(mirror.KV, error) bool) {
		for line := range strings.Lines(lines) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			if key != "" && !yield(mirror.KV{Key: key, Value: []byte(value), ModRevision: 1}, nil) {
				return
			}
		}
	}
}

// throughServer returns a server whose handlers are a counter of questions and then blocks, and the counter.
func throughServer(t *testing.T, blocks ...*Etcd) (*dnsserver.Server, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	config := &dnsserver.Config{Zone: ".", Transport: "dns", ListenHosts: []string{""}, Port: "0"}
	config.AddPlugin(func(next plugin.Handler) plugin.Handler {
		return plugin.HandlerFunc(func(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
			asked.Add(1)
			return next.ServeDNS(ctx, w, r)
		})
	})
	for _, e := range blocks {
		config.AddPlugin(func(next plugin.Handler) plugin.Handler {
			e.Next = next
			return e
		})
	}
	s, err := dnsserver.NewServer("dns://127.0.0.1:0", []*dnsserver.Config{config})
	if err != nil {
		t.Fatal(err)
	}
	return s, asked
}

func askServer(ctx context.Context, s *dnsserver.Server, name string, qtype uint16) {
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	ctx = context.WithValue(ctx, dnsserver.Key{}, s)
	s.ServeDNS(context.WithValue(ctx, dnsserver.LoopKey{}, 0), &test.ResponseWriter{}, m)
}

// Each name of one block stands for several of the other. With nothing but the depth bounded, four targets a name are
// 4^8 lookups for one question.
func TestChainsBetweenBlocksDoNotMultiply(t *testing.T) {
	var a, b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&a, "/skydns/a/*/k%d {\"host\":\"x%d.b\"}\n", i, i)
		fmt.Fprintf(&b, "/skydns/b/*/k%d {\"host\":\"x%d.a\"}\n", i, i)
	}
	for _, qtype := range []uint16{dns.TypeA, dns.TypeSRV} {
		s, asked := throughServer(t, loadedZone("a.", pairs(a.String())), loadedZone("b.", pairs(b.String())))
		askServer(context.Background(), s, "x.a.", qtype)
		if got := asked.Load(); got < 2 || got > 1+maxOutside {
			t.Errorf("%s: %d questions to the server, want 1 and up to %d more", dns.TypeToString[qtype], got, maxOutside)
		}
	}
}

func TestNothingIsLookedUpWhenTimeIsOver(t *testing.T) {
	s, asked := throughServer(t, loadedZone("a.", pairs(`/skydns/a/x/1 {"host":"x.b"}`)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, qtype := range []uint16{dns.TypeA, dns.TypeSRV} {
		asked.Store(0)
		askServer(ctx, s, "x.a.", qtype)
		if got := asked.Load(); got != 1 {
			t.Errorf("%s: %d questions to the server, want the client's alone", dns.TypeToString[qtype], got)
		}
	}
}

// What bounds all lookups of one question leaves room for the glue of one answer.
func TestGlueOfOneAnswerIsWithinTheBound(t *testing.T) {
	var lines strings.Builder
	for i := range backend.MaxOutside {
		fmt.Fprintf(&lines, "/skydns/a/svc/%02d {\"host\":\"h%02d.b\",\"port\":1}\n", i, i)
	}
	s, asked := throughServer(t, loadedZone("a.", pairs(lines.String())))
	askServer(context.Background(), s, "svc.a.", dns.TypeSRV)
	if got := asked.Load(); got != 1+2*backend.MaxOutside {
		t.Errorf("%d questions to the server, want those for %d names", got, backend.MaxOutside)
	}
}

// The targets of one answer are looked up by asking the server again. What those questions look at is spent by the one
// question of the client, whose walks would be 33 times as long otherwise.
func TestStepsAreThoseOfTheClientsQuestion(t *testing.T) {
	const targets = 6
	var a, b strings.Builder
	for i := range targets {
		fmt.Fprintf(&a, "/skydns/a/svc/%d {\"host\":\"h%d.long\",\"port\":1}\n", i, i)
		for n := range backend.MaxSteps - 10 {
			fmt.Fprintf(&b, "/skydns/long/h%d/%05d {\"text\":\"x\"}\n", i, n)
		}
	}
	s, _ := throughServer(t, loadedZone("a.", pairs(a.String())), loadedZone("long.", pairs(b.String())))
	cut := func() float64 {
		var m dto.Metric
		if err := walksCut.WithLabelValues(s.Addr, "long.").Write(&m); err != nil {
			t.Fatal(err)
		}
		return m.GetCounter().GetValue()
	}
	before := cut()
	askServer(context.Background(), s, "h0.long.", dns.TypeA)
	if n := cut() - before; n != 0 {
		t.Fatalf("%v walks of single questions were cut", n)
	}
	askServer(context.Background(), s, "svc.a.", dns.TypeSRV)
	if n, most := cut()-before, 2.0*targets-backend.MaxTotalSteps/backend.MaxSteps; n < most-1 {
		t.Errorf("%v walks were cut, want about %v", n, most)
	}
}
