package forward

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/coredns/coredns/plugin/metadata"
	"github.com/coredns/coredns/plugin/pkg/dnstest"
	"github.com/coredns/coredns/plugin/test"
	"github.com/coredns/coredns/request"
	scripted "github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// gate is an upstream that answers nothing until it is opened.
func gate(t *testing.T, script scripted.Script) (up *scripted.Server, open func()) {
	opened := make(chan struct{})
	up = scripted.New(t, func(q *scripted.Query) {
		<-opened
		script(q)
	})
	open = sync.OnceFunc(func() { close(opened) })
	t.Cleanup(open)
	return up, open
}

// waiting is how many questions of f wait for the reply to another one.
func waiting(f *Forward) (n int) {
	for i := range f.flights.shards {
		s := &f.flights.shards[i]
		s.mu.Lock()
		for _, fl := range s.m {
			n += fl.waiting
		}
		s.mu.Unlock()
	}
	return n
}

// underWay is how many questions of f can be joined.
func underWay(f *Forward) (n int) {
	for i := range f.flights.shards {
		s := &f.flights.shards[i]
		s.mu.Lock()
		n += len(s.m)
		s.mu.Unlock()
	}
	return n
}

// put asks f for the addresses of name.
func put(ctx context.Context, f *Forward, name string) (asked, reply *dns.Msg, rcode int, err error) {
	asked = new(dns.Msg)
	asked.SetQuestion(name, dns.TypeA)
	w := dnstest.NewRecorder(&test.ResponseWriter{})
	rcode, err = f.ServeDNS(ctx, w, asked)
	return asked, w.Msg, rcode, err
}

// RFC 5452, section 5: identical questions outstanding multiply the chance of a forged reply.
func TestIdenticalQuestionsInFlightAreOneExchange(t *testing.T) {
	up, open := gate(t, scripted.A("192.0.2.1"))
	f := handler(t, stanza("", up))
	names := []string{"www.example.org.", "WWW.example.org.", "wWw.eXaMpLe.org."}
	const each = 20
	before := counted(t, "coredns_forward_shared_total", nil)
	var wg sync.WaitGroup
	for i := range each * len(names) {
		wg.Go(func() {
			asked, reply, _, err := put(t.Context(), f, names[i%len(names)])
			if err != nil {
				t.Error(err)
				return
			}
			if reply.Id != asked.Id || reply.Question[0] != asked.Question[0] || len(reply.Answer) != 1 ||
				reply.Answer[0].Header().Name != asked.Question[0].Name {
				t.Errorf("asked\n%s\ngot\n%s", asked, reply)
			}
			reply.Answer[0].Header().Ttl = uint32(i) // everybody's reply is their own: the race detector sees if not
		})
	}
	scripted.WaitFor(t, "all questions to be under way", func() bool { return waiting(f) == each*len(names)-1 })
	open()
	wg.Wait()
	if n := up.Questions(""); n != 1 {
		t.Errorf("the upstream was asked %d times, want once", n)
	}
	if n := counted(t, "coredns_forward_shared_total", nil) - before; n != each*float64(len(names))-1 {
		t.Errorf("%v questions counted as shared", n)
	}
	if n := underWay(f); n != 0 {
		t.Errorf("%d questions left behind", n)
	}
}

func TestQuestionsThatDifferAreAskedEachByItself(t *testing.T) {
	plain := func() *dns.Msg {
		m := new(dns.Msg)
		m.SetQuestion("example.org.", dns.TypeA)
		return m
	}
	edns := func(size uint16, do bool, options ...dns.EDNS0) *dns.Msg {
		m := plain()
		m.SetEdns0(size, do)
		m.IsEdns0().Option = options
		return m
	}
	changed := func(change func(*dns.Msg)) *dns.Msg {
		m := plain()
		change(m)
		return m
	}
	of := func(m *dns.Msg, proto string) (likeness, bool) {
		var l likeness
		ok := l.of(&request.Request{W: &test.ResponseWriter{}, Req: m}, proto)
		return l, ok
	}
	seen := make(map[likeness]string)
	for _, tt := range []struct {
		name string
		m    *dns.Msg
	}{
		{"plain", plain()},
		{"type", changed(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAAAA })},
		{"class", changed(func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS })},
		{"name", changed(func(m *dns.Msg) { m.Question[0].Name = "example.net." })},
		{"RD", changed(func(m *dns.Msg) { m.RecursionDesired = false })},
		{"AD", changed(func(m *dns.Msg) { m.AuthenticatedData = true })},
		{"CD", changed(func(m *dns.Msg) { m.CheckingDisabled = true })},
		{"Z", changed(func(m *dns.Msg) { m.Zero = true })},
		{"EDNS", edns(512, false)},
		{"size", edns(1232, false)},
		{"DO", edns(1232, true)},
	} {
		for _, proto := range []string{"udp", "tcp"} {
			l, ok := of(tt.m, proto)
			if other, twice := seen[l]; !ok || twice {
				t.Errorf("%s over %s: is like %q", tt.name, proto, other)
			}
			seen[l] = tt.name + " over " + proto
		}
	}
	for name, m := range map[string]*dns.Msg{
		"ECS":      edns(1232, false, &dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1, SourceNetmask: 8, Address: net.IPv4(10, 0, 0, 0)}),
		"NSID":     edns(1232, false, &dns.EDNS0_NSID{Code: dns.EDNS0NSID}),
		"HINFO":    changed(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeHINFO }), // the loop plugin counts them
		"a record": changed(func(m *dns.Msg) { m.Answer = []dns.RR{test.A("example.org. 60 IN A 192.0.2.1")} }),
	} {
		if _, ok := of(m, "udp"); ok {
			t.Errorf("%s: may be like others", name)
		}
	}
	cookie := edns(1232, false, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: strings.Repeat("00", 8)})
	if l, ok := of(cookie, "udp"); !ok || seen[l] != "size over udp" {
		t.Error("a cookie, which is not sent on, makes a difference")
	}
}

// A failed leader does not fail all: the question is asked once more, and not by everybody at the same time.
func TestWhoWaitedForAFailedQuestionGetsOneMoreAttempt(t *testing.T) {
	arrived := make(chan struct{}, 10)
	up := scripted.New(t, scripted.Turns(func(*scripted.Query) { arrived <- struct{}{} }, scripted.A("192.0.2.1")))
	f := handler(t, stanza("read_timeout 300ms\nmax_connect_attempts 1\nmax_fails 0", up))
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, _, rcode, _ := put(t.Context(), f, "example.org."); rcode != dns.RcodeServerFailure {
			t.Errorf("the leader's own question: got %s, want its time-out", dns.RcodeToString[rcode])
		}
	})
	<-arrived
	const others = 50
	for range others {
		wg.Go(func() {
			_, reply, _, err := put(t.Context(), f, "example.org.")
			if err != nil || len(reply.Answer) != 1 {
				t.Errorf("got\n%s and %v, want the answer of the second attempt", reply, err)
			}
		})
	}
	wg.Wait()
	if n := up.Questions(""); n > 3 { // some may have come after the failure, or after the answer
		t.Errorf("the upstream was asked %d times for %d questions", n, others+1)
	}
}

func TestALeaderWhoseClientGoesAwayAnswersThoseWhoWait(t *testing.T) {
	up, open := gate(t, scripted.A("192.0.2.1"))
	f := handler(t, stanza("", up))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _, _, _ = put(ctx, f, "example.org.") })
	scripted.WaitFor(t, "the question to arrive", func() bool { return up.Questions("") == 1 })
	wg.Go(func() {
		if _, reply, _, err := put(t.Context(), f, "example.org."); err != nil || len(reply.Answer) != 1 {
			t.Errorf("got\n%s and %v", reply, err)
		}
	})
	scripted.WaitFor(t, "somebody to wait", func() bool { return waiting(f) == 1 })
	cancel()
	open()
	wg.Wait()
	if n := up.Questions(""); n != 1 {
		t.Errorf("the upstream was asked %d times, want once", n)
	}
}

func TestMetadataNamesTheUpstreamAlsoForWhoShares(t *testing.T) {
	up, open := gate(t, scripted.A("192.0.2.1"))
	f := handler(t, stanza("", up))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			ctx := metadata.ContextWithMetadata(t.Context())
			if _, _, _, err := put(ctx, f, "example.org."); err != nil {
				t.Error(err)
			}
			if value := metadata.ValueFunc(ctx, "forward/upstream"); value == nil || value() != up.Addr().String() {
				t.Errorf("metadata does not name %s", up.Addr())
			}
		})
	}
	scripted.WaitFor(t, "somebody to wait", func() bool { return waiting(f) == 1 })
	open()
	wg.Wait()
}

func TestAQuestionEndsWhenAllItsClientsHaveGone(t *testing.T) {
	up, _ := gate(t, scripted.Drop)
	f := handler(t, stanza("read_timeout 1h", up))
	leading, leave := context.WithCancel(t.Context())
	follows, leaveToo := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, _, _, err := put(leading, f, "example.org."); !errors.Is(err, upstream.ErrCanceled) {
			t.Errorf("the leader ended with %v", err)
		}
	})
	scripted.WaitFor(t, "the question to arrive", func() bool { return up.Questions("") == 1 })
	wg.Go(func() {
		if _, _, _, err := put(follows, f, "example.org."); !errors.Is(err, upstream.ErrCanceled) {
			t.Errorf("whoever waited ended with %v", err)
		}
	})
	scripted.WaitFor(t, "somebody to wait", func() bool { return waiting(f) == 1 })
	leave()
	leaveToo()
	wg.Wait() // an hour, if nobody tells the question
}

// Waiting costs no more of a client's time than asking.
func TestWhoWaitsKeepsADeadlineOfTheirOwn(t *testing.T) {
	up, _ := gate(t, scripted.Drop)
	f := handler(t, stanza("", up))
	p := newPursuit(f, &test.ResponseWriter{}, new(dns.Msg).SetQuestion("example.org.", dns.TypeA))
	p.deadline = p.deadline.Add(-f.block.budget)
	fl := &flight{landed: make(chan struct{})}
	if err := p.await(t.Context(), fl); !errors.Is(err, ErrWaited) || !strings.HasSuffix(err.Error(), "i/o timeout") {
		t.Errorf("got %v", err)
	}
	if retries(t.Context(), ErrWaited) {
		t.Error("another attempt after the deadline")
	}
}
