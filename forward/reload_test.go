package forward

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/shared"

	_ "github.com/coredns/coredns/plugin/bind"
	"github.com/miekg/dns"
)

// E13: pools and health started from cold with every reload.
func TestAReloadKeepsConnectionsOfUpstreamsThatStay(t *testing.T) {
	up, other := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	corefile := func(to *dnstest.Server, rest string) string {
		return fmt.Sprintf(".:0 {\n%s\n}\n", stanza("force_tcp\n"+rest, to))
	}
	s := start(t, corefile(up, ""))
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	for _, rest := range []string{"", "except example.com", "timeout 4s"} { // what an upstream has nothing to do with
		if err := s.Reload(t, corefile(up, rest)); err != nil {
			t.Fatal(err)
		}
		wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	}
	if n := up.Conns("tcp"); n != 1 {
		t.Errorf("%d connections over three reloads, want the first one kept", n)
	}
	if err := s.Reload(t, corefile(other, "")); err != nil {
		t.Fatal(err)
	}
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.2")
	dnstest.WaitFor(t, "the connection to the upstream that left to be closed", func() bool { return up.OpenConns() == 0 })
}

func TestAReloadKeepsHealth(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	s := serve(t, quick, up)
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	dnstest.WaitFor(t, "the upstream to be down", runningUpstream(t, quick, up, up).Down)
	if err := s.Reload(t, fmt.Sprintf(".:0 {\n%s\n}\n", stanza(quick, up))); err != nil {
		t.Fatal(err)
	}
	settle(t, s)
	if !runningUpstream(t, quick, up, up).Down() {
		t.Error("the reload forgot that the upstream is down")
	}
}

func TestFailedReloadsLeaveNothingBehind(t *testing.T) {
	up, other := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	names := dnstest.New(t, dnstest.Drop)
	s := serve(t, "", up)
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	before := [3]int{rosters.Len(), followers.Len(), resolvers.Len()}
	for range 20 {
		// Nobody can listen on that address, which caddy finds out after OnStartup.
		err := s.Reload(t, fmt.Sprintf(`.:0 {
			%s
			forward . dns.example {
				resolver %s
			}
		}
		example.org:0 {
			bind 203.0.113.77
			forward . 127.0.0.1
		}`, stanza("except example.org", other), names.Addr()))
		if err == nil {
			t.Fatal("the reload was meant to fail")
		}
	}
	if after := [3]int{rosters.Len(), followers.Len(), resolvers.Len()}; after != before {
		t.Errorf("%v rosters, followers and resolvers, %v before the reloads that failed", after, before)
	}
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
}

// On SIGTERM the plugins end first and the servers last: health waits in between.
func TestQuestionsAreAnsweredAfterShutdown(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	for _, properties := range []string{"", "force_tcp"} {
		b := mustParse(t, stanza(properties, up))
		r, err := openRoster(b)
		if err != nil {
			t.Fatal(err)
		}
		f := newForward(b)
		f.roster = r
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		m, _, err := ask(t.Context(), f)
		if err != nil {
			t.Fatalf("%q: %v", properties, err)
		}
		wantA(t, m, "192.0.2.1")
	}
}

func TestBlocksWithTheSameUpstreamsShareThem(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := start(t, fmt.Sprintf(".:0 example.org:0 {\n%s\n}\n", stanza("force_tcp", up)))
	for range 3 {
		s.Ask(t, "www.example.org.", dns.TypeA)
		s.Ask(t, "www.example.com.", dns.TypeA)
	}
	if n := up.Conns("tcp"); n != 1 {
		t.Errorf("%d connections, want one for both zones", n)
	}
	if rosters.Len() != 1 {
		t.Errorf("%d rosters, want one", rosters.Len())
	}
}

// A configuration that ends does not take questions with it, whether its successor shares its upstreams or not.
func TestNoQuestionIsLostWhenAConfigurationEnds(t *testing.T) {
	for _, properties := range []string{"", "force_tcp"} {
		t.Run(properties, func(t *testing.T) {
			up := dnstest.New(t, dnstest.Delay(time.Millisecond, dnstest.A("192.0.2.1")))
			for _, next := range []string{properties, properties + "\nexpire 3s"} {
				oldOwner, newOwner := shared.New(), shared.New()
				old, successor := newForward(mustParse(t, stanza(properties, up))), newForward(mustParse(t, stanza(next, up)))
				if err := old.start(oldOwner); err != nil {
					t.Fatal(err)
				}
				var asked atomic.Int64
				var asking sync.WaitGroup
				for range 8 {
					asking.Go(func() {
						for range 50 {
							if m, rcode, err := ask(t.Context(), old); err != nil || len(m.Answer) != 1 {
								t.Errorf("after %d questions: rcode %d, error %v", asked.Load(), rcode, err)
								return
							}
							asked.Add(1)
						}
					})
				}
				dnstest.WaitFor(t, "questions to be under way", func() bool { return asked.Load() > 20 || t.Failed() })
				if err := successor.start(newOwner); err != nil {
					t.Fatal(err)
				}
				oldOwner.Release()
				asking.Wait()
				if _, _, err := ask(t.Context(), successor); err != nil {
					t.Error(err)
				}
				newOwner.Release()
			}
		})
	}
}
