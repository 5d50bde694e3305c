package relay

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

func open(t *testing.T, servers ...*dnstest.Server) *Group {
	t.Helper()
	owner := shared.New()
	t.Cleanup(owner.Release)
	var addrs []netip.AddrPort
	for _, s := range servers {
		addrs = append(addrs, s.Addr())
	}
	g, err := Open(owner, "relay-test", addrs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func question(qtype uint16) upstream.Question {
	m := new(dns.Msg)
	m.SetQuestion("a.example.", qtype)
	return upstream.Question{Msg: m, Proto: "udp"}
}

func TestEachServerIsAskedOnceBeforeABadReplyIsTaken(t *testing.T) {
	a, b := dnstest.New(t, dnstest.Rcode(dns.RcodeServerFailure)), dnstest.New(t, dnstest.Rcode(dns.RcodeRefused))
	g := open(t, a, b)
	m, err := g.Exchange(t.Context(), question(dns.TypeA))
	if err != nil || m.Rcode != dns.RcodeServerFailure && m.Rcode != dns.RcodeRefused {
		t.Errorf("got %v, %v", m, err)
	}
	if a.Questions("") != 1 || b.Questions("") != 1 {
		t.Errorf("%d and %d questions, want one each", a.Questions(""), b.Questions(""))
	}
}

// NXDOMAIN is an answer. Nobody else may know better.
func TestNegativeAnswersAreAnswers(t *testing.T) {
	a, b := dnstest.New(t, dnstest.Rcode(dns.RcodeNameError)), dnstest.New(t, dnstest.Rcode(dns.RcodeNameError))
	g := open(t, a, b)
	if m, err := g.Exchange(t.Context(), question(dns.TypeA)); err != nil || m.Rcode != dns.RcodeNameError {
		t.Errorf("got %v, %v", m, err)
	}
	if n := a.Questions("") + b.Questions(""); n != 1 {
		t.Errorf("%d questions, want one", n)
	}
}

func TestQuestionsThatNobodyCanAnswerAreAskedOfNobody(t *testing.T) {
	a := dnstest.New(t, dnstest.A("192.0.2.1"))
	g := open(t, a)
	if _, err := g.Exchange(t.Context(), question(dns.TypeAXFR)); !errors.Is(err, upstream.ErrUnsupported) {
		t.Errorf("a transfer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Exchange(ctx, question(dns.TypeA)); !errors.Is(err, upstream.ErrCanceled) {
		t.Errorf("nobody waits: %v", err)
	}
	if _, err := open(t).Exchange(t.Context(), question(dns.TypeA)); !errors.Is(err, ErrNoServer) {
		t.Errorf("no server: %v", err)
	}
	if n := a.Questions(""); n != 0 {
		t.Errorf("%d questions", n)
	}
}

func TestServersThatAreDownComeLast(t *testing.T) {
	dead, alive := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	dead.Stop()
	g := open(t, dead, alive)
	for end := time.Now().Add(15 * time.Second); !g.members[0].Down(); {
		if time.Now().After(end) {
			t.Fatal("a server that is gone does not count as down")
		}
		if _, err := g.Exchange(t.Context(), question(dns.TypeA)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	for range 50 {
		if order := g.order(); len(order) != 2 || order[0] != g.members[1] {
			t.Fatal("a server that is down is asked first")
		}
	}
}

func TestAttemptsShareTheTime(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		remains time.Duration
		left    int
		want    time.Duration
	}{
		{5 * time.Second, 1, 5 * time.Second},
		{5 * time.Second, 2, 2500 * time.Millisecond},
		{5 * time.Second, 32, time.Second},
		{500 * time.Millisecond, 4, 500 * time.Millisecond},
	} {
		if got := share(now, now.Add(tt.remains), tt.left).Sub(now); got != tt.want {
			t.Errorf("%s for %d: got %s, want %s", tt.remains, tt.left, got, tt.want)
		}
	}
}
