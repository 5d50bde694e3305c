package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// hostBlock forwards to a host name that names is asked for.
func hostBlock(up, names *dnstest.Server, properties string) string {
	return fmt.Sprintf(".:0 {\nforward . dns.example:%d {\nresolver %s\n%s\n}\n}", up.Addr().Port(), names.Addr(),
		properties)
}

// naming answers A questions with these addresses, and all others with no data.
func naming(addrs ...string) dnstest.Script {
	rrs := make([]string, len(addrs))
	for i, a := range addrs {
		rrs[i] = "1 IN A " + a
	}
	return func(q *dnstest.Query) {
		if q.Msg.Question[0].Qtype == dns.TypeA {
			dnstest.Records(rrs...)(q)
		} else {
			dnstest.Rcode(dns.RcodeSuccess)(q)
		}
	}
}

func TestAHostNameIsAnUpstream(t *testing.T) {
	asked := make(chan *dns.Msg, 10)
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	names := dnstest.New(t, func(q *dnstest.Query) {
		asked <- q.Msg
		naming("127.0.0.1")(q)
	})
	s := start(t, hostBlock(up, names, ""))
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1") // waits for the first look-up
	if m := <-asked; m.Question[0].Name != "dns.example." || !m.RecursionDesired {
		t.Errorf("looked up with\n%s", m)
	}
}

// E3: a name that did not resolve kept the server from starting, which in a cluster is a deadlock at boot.
func TestAHostNameThatDoesNotResolveNeitherBlocksNorFailsTheStart(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	names := dnstest.New(t, dnstest.Rcode(dns.RcodeNameError))
	s := start(t, hostBlock(up, names, ""))
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	names.Use(naming("127.0.0.1"))
	dnstest.WaitFor(t, "the name to resolve after all", func() bool {
		return s.Ask(t, "example.org.", dns.TypeA).Rcode == dns.RcodeSuccess
	})
}

func TestOneOfSeveralResolversIsEnough(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	lame, good := dnstest.New(t, dnstest.Rcode(dns.RcodeRefused)), dnstest.New(t, naming("127.0.0.1"))
	s := start(t, fmt.Sprintf(".:0 {\nforward . dns.example:%d {\nresolver %s %s\n}\n}", up.Addr().Port(),
		lame.Addr(), good.Addr()))
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
}

func TestTheSystemsResolverIsTheDefaultAndGetsNoSearchDomain(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	names := dnstest.New(t, dnstest.Named(map[string]dnstest.Script{
		"dns.example.": naming("127.0.0.1"), "": dnstest.Rcode(dns.RcodeNameError),
	}))
	system := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = system })
	net.DefaultResolver = &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, names.Addr().String())
		},
	}
	s := start(t, fmt.Sprintf(".:0 {\nforward . dns.example:%d\n}", up.Addr().Port()))
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	if n := names.Questions(""); n != 2 {
		t.Errorf("%d questions for the addresses of one name, want A and AAAA of the name as it is", n)
	}
}

// script is a look-up whose answers the test decides.
type script struct {
	mu    sync.Mutex
	addrs []netip.Addr
	ttl   time.Duration
	err   error
	asked int
}

func (s *script) lookup(context.Context, string) ([]netip.Addr, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.addrs, s.ttl, s.err
}

func (s *script) say(err error, ttl time.Duration, addrs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.ttl, s.addrs, s.asked = err, ttl, parseAddrs(addrs), 0
}

func (s *script) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func parseAddrs(text []string) (addrs []netip.Addr) {
	for _, a := range text {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs
}

func TestAHostNameIsFollowedAndTheLastGoodAddressesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s script
		s.say(nil, time.Minute, "192.0.2.1", "192.0.2.2")
		f := openFollower("dns.example", s.lookup, pace{minRefresh, maxRefresh})
		defer func() { _ = f.Close() }()
		synctest.Wait()
		want := parseAddrs([]string{"192.0.2.1", "192.0.2.2"})
		if !slices.Equal(f.addrs(), want) {
			t.Fatalf("addresses %v, want %v", f.addrs(), want)
		}

		s.say(nil, time.Minute, "192.0.2.3", "192.0.2.2")
		time.Sleep(30 * time.Second)
		if s.times() != 0 {
			t.Error("looked up again long before the TTL is over")
		}
		time.Sleep(30*time.Second + time.Millisecond)
		want = parseAddrs([]string{"192.0.2.2", "192.0.2.3"}) // the one known before stays in front
		if !slices.Equal(f.addrs(), want) {
			t.Errorf("addresses %v after the TTL, want %v", f.addrs(), want)
		}

		s.say(errors.New("broken"), 0)
		time.Sleep(time.Hour)
		if !slices.Equal(f.addrs(), want) {
			t.Errorf("addresses %v after an hour of failures, want %v", f.addrs(), want)
		}
		if n := s.times(); n < 100 || n > 170 { // one in 24 to 30 seconds, and a few more at first
			t.Errorf("looked up %d times in an hour of failures", n)
		}
		s.say(nil, time.Minute, "192.0.2.9")
		time.Sleep(maxRetry)
		if want = parseAddrs([]string{"192.0.2.9"}); !slices.Equal(f.addrs(), want) {
			t.Errorf("addresses %v after the recovery, want %v", f.addrs(), want)
		}
	})
}

func TestCloseEndsALookupThatHangs(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		f := openFollower("dns.example", func(ctx context.Context, _ string) ([]netip.Addr, time.Duration, error) {
			<-ctx.Done()
			return nil, 0, ctx.Err()
		}, pace{minRefresh, maxRefresh})
		synctest.Wait()
		_ = f.Close() // synctest fails the test if this never returns
	})
}

func TestMergeKeepsTheOrder(t *testing.T) {
	for _, tt := range []struct{ known, found, want []string }{
		{nil, []string{"192.0.2.1", "192.0.2.2"}, []string{"192.0.2.1", "192.0.2.2"}},
		{[]string{"192.0.2.1", "192.0.2.2"}, []string{"192.0.2.2", "192.0.2.1"}, []string{"192.0.2.1", "192.0.2.2"}},
		{[]string{"192.0.2.1"}, []string{"192.0.2.2", "192.0.2.2"}, []string{"192.0.2.2"}},
	} {
		if got := merge(parseAddrs(tt.known), parseAddrs(tt.found)); !slices.Equal(got, parseAddrs(tt.want)) {
			t.Errorf("%v then %v: %v, want %v", tt.known, tt.found, got, tt.want)
		}
	}
}
