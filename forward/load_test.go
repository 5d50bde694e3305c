package forward

import (
	"fmt"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// question has room for an extended error.
func question(name string) *dns.Msg {
	m := new(dns.Msg)
	m.SetQuestion(name, dns.TypeA)
	m.SetEdns0(1232, false)
	return m
}

func TestOverTheRateLimitOthersAreAskedAndThenNobody(t *testing.T) {
	first, second := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	s := serve(t, "policy sequential\nrate_limit 0.001 2", first, second)
	refused := counted(t, "coredns_forward_limit_rejects_total", nil)
	for i, want := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2"} {
		wantA(t, s.Ask(t, fmt.Sprintf("n%d.example.org.", i), dns.TypeA), want)
	}
	r := s.Exchange(t, question("more.example.org."), "udp")
	wantRcode(t, r, dns.RcodeRefused)
	if e := extended(t, r); e.ExtraText != "refused by a limit" {
		t.Errorf("got %s", e)
	}
	if got := counted(t, "coredns_forward_limit_rejects_total", nil) - refused; got != 1 {
		t.Errorf("%v refusals counted, want 1", got)
	}
	if n := first.Questions("") + second.Questions(""); n != 4 {
		t.Errorf("%d questions reached the upstreams", n)
	}
}

func TestOverMaxInFlightOthersAreAskedAndThenNobody(t *testing.T) {
	first, open := gate(t, dnstest.A("192.0.2.1"))
	second, openToo := gate(t, dnstest.A("192.0.2.2"))
	s := serve(t, "policy sequential\nmax_in_flight 1", first, second)
	replies := make(chan *dns.Msg, 2)
	for i, up := range []*dnstest.Server{first, second} {
		go func() { replies <- s.Exchange(t, question(fmt.Sprintf("n%d.example.org.", i)), "udp") }()
		dnstest.WaitFor(t, fmt.Sprintf("question %d to arrive", i), func() bool { return up.Questions("") > 0 })
	}
	wantRcode(t, s.Exchange(t, question("more.example.org."), "udp"), dns.RcodeRefused)
	open()
	openToo()
	for range 2 {
		if r := <-replies; r.Rcode != dns.RcodeSuccess {
			t.Errorf("got\n%s", r)
		}
	}
	dnstest.WaitFor(t, "room", func() bool {
		return s.Exchange(t, question("again.example.org."), "udp").Rcode == dns.RcodeSuccess
	})
}

// A limit is a reason to ask somebody else, and no reason to wait for them: the one failure decides.
func TestALimitDoesNotHideWhatOthersFailedWith(t *testing.T) {
	limitedOne, gone := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.Drop)
	gone.Stop()
	s := serve(t, "policy sequential\nrate_limit 0.001 4\nmax_connect_attempts 2\nmax_fails 0", limitedOne, gone)
	for i := range 4 {
		wantA(t, s.Ask(t, fmt.Sprintf("n%d.example.org.", i), dns.TypeA), "192.0.2.1")
	}
	r := s.Exchange(t, question("more.example.org."), "udp")
	wantRcode(t, r, dns.RcodeServerFailure)
	if e := extended(t, r); e.InfoCode != dns.ExtendedErrorCodeNoReachableAuthority {
		t.Errorf("got %s", e)
	}
}

func TestLeastLatencyAsksTheFastOneAndLooksAtTheSlowOneNowAndThen(t *testing.T) {
	fast := dnstest.New(t, dnstest.A("192.0.2.1"))
	slow := dnstest.New(t, dnstest.Delay(60*time.Millisecond, dnstest.A("192.0.2.2")))
	const properties = "policy least_latency\nhedge off"
	s := serve(t, properties, fast, slow)
	m := runningUpstream(t, properties, slow, fast, slow)
	dnstest.WaitFor(t, "the slow one to be known", func() bool {
		s.Ask(t, "warm.example.org.", dns.TypeA)
		return m.Latency() > 10*time.Millisecond
	})
	explored := counted(t, "coredns_forward_explored_total", nil)
	before := slow.Questions("")
	asked := 0
	dnstest.WaitFor(t, "a copy for the slow one", func() bool {
		asked++
		wantA(t, s.Ask(t, fmt.Sprintf("n%d.example.org.", asked), dns.TypeA), "192.0.2.1")
		return slow.Questions("") > before
	})
	if counted(t, "coredns_forward_explored_total", nil) == explored {
		t.Error("the slow one was asked, and not by a copy")
	}
}

func TestQuestionsThatCannotWaitForTheFirstLookupAreCounted(t *testing.T) {
	b := mustParse(t, "forward . dns.example")
	r := &roster{block: b, settled: make(chan struct{})}
	r.current.Store(&lineup{})
	r.waiting.Store(maxWaiting)
	before := counted(t, "coredns_forward_unresolved_rejects_total", nil)
	if got := r.members(t.Context(), time.Now().Add(time.Hour)); len(got) != 0 { // an hour, if it waits
		t.Errorf("%d upstreams", len(got))
	}
	if got := counted(t, "coredns_forward_unresolved_rejects_total", nil) - before; got != 1 {
		t.Errorf("%v counted, want 1", got)
	}
}
