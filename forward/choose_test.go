package forward

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// quick makes a dead upstream known to be down within a few milliseconds of the first question that it fails.
const quick = "health_check 10ms\nmax_fails 1\nread_timeout 100ms\n"

func TestExceptAndFromDecideWhichBlockAnswers(t *testing.T) {
	first, second := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	s := start(t, fmt.Sprintf(`.:0 {
		forward example.org %s {
			except not.example.org
		}
		forward . %s
	}`, first.Addr(), second.Addr()))
	wantA(t, s.Ask(t, "www.example.org.", dns.TypeA), "192.0.2.1")
	wantA(t, s.Ask(t, "www.NOT.example.org.", dns.TypeA), "192.0.2.2")
	wantA(t, s.Ask(t, "example.com.", dns.TypeA), "192.0.2.2")
}

// E7: of the zones that a network expands to, only the first was forwarded.
func TestANetworkThatIsSeveralZonesIsForwardedWhole(t *testing.T) {
	up := dnstest.New(t, dnstest.Records("60 IN PTR host.example."))
	s := start(t, fmt.Sprintf(".:0 {\nforward 10.9.8.0/23 %s\n}", up.Addr()))
	for _, name := range []string{"1.8.9.10.in-addr.arpa.", "1.9.9.10.in-addr.arpa."} {
		if r := s.Ask(t, name, dns.TypePTR); r.Rcode != dns.RcodeSuccess || len(r.Answer) != 1 {
			t.Errorf("%s: %s", name, r)
		}
	}
	wantRcode(t, s.Ask(t, "1.7.9.10.in-addr.arpa.", dns.TypePTR), dns.RcodeServerFailure) // no next plugin
}

func TestSequentialAsksTheSecondOnlyWhenTheFirstFails(t *testing.T) {
	first, second := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	s := serve(t, "policy sequential\n"+quick, first, second)
	for i := range 5 {
		wantA(t, s.Ask(t, fmt.Sprintf("n%d.example.org.", i), dns.TypeA), "192.0.2.1")
	}
	first.Use(dnstest.Drop)
	wantA(t, s.Ask(t, "late.example.org.", dns.TypeA), "192.0.2.2")
}

func TestRoundRobinTakesTurns(t *testing.T) {
	first, second := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	s := serve(t, "policy round_robin", first, second)
	for i := range 10 {
		s.Ask(t, fmt.Sprintf("n%d.example.org.", i), dns.TypeA)
	}
	if a, b := first.Questions(""), second.Questions(""); a != 5 || b != 5 {
		t.Errorf("%d and %d questions, want 5 each", a, b)
	}
}

func TestRandomUsesAllUpstreams(t *testing.T) {
	first, second := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	s := serve(t, "policy random", first, second)
	for i := range 60 { // all to one of them: once in 2^59 runs
		s.Ask(t, fmt.Sprintf("n%d.example.org.", i), dns.TypeA)
	}
	if a, b := first.Questions(""), second.Questions(""); a == 0 || b == 0 {
		t.Errorf("%d and %d questions, want some for each", a, b)
	}
}

// C1: max_fails 2 took three failed probes. An upstream that is down is left alone, and comes back by itself.
func TestAnUpstreamIsDownAfterMaxFailsProbesAndBackAfterOneAnswer(t *testing.T) {
	first, second := dnstest.New(t, dnstest.Drop), dnstest.New(t, dnstest.A("192.0.2.2"))
	const properties = "policy sequential\nhealth_check 10ms\nmax_fails 2\nread_timeout 100ms"
	s := serve(t, properties, first, second)
	wantA(t, s.Ask(t, "one.example.org.", dns.TypeA), "192.0.2.2")

	m := runningUpstream(t, properties, first, first, second)
	dnstest.WaitFor(t, "the first upstream to be down", m.Down)
	asked := make(chan struct{}, 1)
	first.Use(func(q *dnstest.Query) {
		if q.Msg.Question[0].Name != "." {
			asked <- struct{}{}
		}
	})
	wantA(t, s.Ask(t, "two.example.org.", dns.TypeA), "192.0.2.2")
	select {
	case <-asked:
		t.Error("an upstream that is down was asked although another is up")
	default:
	}

	first.Use(dnstest.A("192.0.2.1"))
	dnstest.WaitFor(t, "the first upstream to be back", func() bool { return !m.Down() })
	wantA(t, s.Ask(t, "three.example.org.", dns.TypeA), "192.0.2.1")
}

func TestMaxFailsZeroProbesNobodyAndGivesUpOnNobody(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	s := serve(t, "max_fails 0\nmax_connect_attempts 1\nread_timeout 50ms\nhealth_check 10ms", up)
	for range 3 {
		wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	}
	names := make(chan string, 100)
	up.Use(func(q *dnstest.Query) {
		names <- q.Msg.Question[0].Name
		dnstest.A("192.0.2.1")(q)
	})
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	for len(names) > 0 {
		if name := <-names; name == "." {
			t.Error("probed although max_fails is 0")
		}
	}
}

func TestProbesAskWhatHealthCheckSays(t *testing.T) {
	probes := make(chan *dns.Msg, 100)
	up := dnstest.New(t, func(q *dnstest.Query) {
		if q.Msg.Question[0].Qtype == dns.TypeNS {
			probes <- q.Msg
			dnstest.Rcode(dns.RcodeRefused)(q)
		}
	})
	s := serve(t, "health_check 10ms no_rec domain probe.example\nread_timeout 50ms\nmax_connect_attempts 1", up)
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	select {
	case m := <-probes:
		if m.Question[0].Name != "probe.example." || m.RecursionDesired {
			t.Errorf("probed with %s", m)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("no probe after a failed question")
	}
}

// C2, the other way: with rcode some replies are failures, of probes and of questions.
func TestHealthCheckRcodeMakesAnUpstreamThatAnswersSoDown(t *testing.T) {
	up := dnstest.New(t, dnstest.Rcode(dns.RcodeServerFailure))
	const properties = "health_check 10ms rcode SERVFAIL\nmax_fails 1"
	s := serve(t, properties, up)
	m := runningUpstream(t, properties, up, up)
	dnstest.WaitFor(t, "the upstream to be down", func() bool {
		wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
		return m.Down()
	})
	up.Use(dnstest.A("192.0.2.1"))
	dnstest.WaitFor(t, "the upstream to be back", func() bool { return !m.Down() })
}

// C3: nothing was probed before the first question had failed.
func TestPeriodicProbesAnUpstreamThatNobodyAsks(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	serve(t, "health_check 10ms periodic", up)
	dnstest.WaitFor(t, "three probes", func() bool { return up.Questions("") >= 3 })
}

// C2: any reply to a probe says that somebody is there.
func TestAnUpstreamThatAnswersProbesWithAnErrorIsUp(t *testing.T) {
	probed := make(chan struct{}, 100)
	up := dnstest.New(t, dnstest.Named(map[string]dnstest.Script{
		".": func(q *dnstest.Query) {
			dnstest.Rcode(dns.RcodeServerFailure)(q)
			probed <- struct{}{}
		},
		"good.example.": dnstest.A("192.0.2.1"),
	}))
	s := serve(t, quick+"failfast_all_unhealthy_upstreams", up)
	wantRcode(t, s.Ask(t, "dropped.example.", dns.TypeA), dns.RcodeServerFailure)
	<-probed
	for range 50 { // for longer than it takes to look at the reply to the probe
		wantA(t, s.Ask(t, "good.example.", dns.TypeA), "192.0.2.1")
	}
}

// C6: when all are down, health checking itself may be what is broken.
func TestAllDownFallsBackToARandomUpstream(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	s := serve(t, quick, up)
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	dnstest.WaitFor(t, "the upstream to be down", runningUpstream(t, quick, up, up).Down)
	up.Use(dnstest.Named(map[string]dnstest.Script{"example.org.": dnstest.A("192.0.2.1")})) // but no probe
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
}

// The read timeout is shorter than any time to a retransmission, so that the second query is a second attempt.
func TestAQuestionThatWaitedInVainForUpstreamsThatAreDownIsAskedAgain(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	s := serve(t, quick, up)
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	dnstest.WaitFor(t, "the upstream to be down", runningUpstream(t, quick, up, up).Down)
	var asked atomic.Int32
	up.Use(dnstest.Named(map[string]dnstest.Script{"again.example.org.": func(q *dnstest.Query) { // but no probe
		if asked.Add(1) > 1 {
			dnstest.A("192.0.2.1")(q)
		}
	}}))
	wantA(t, s.Ask(t, "again.example.org.", dns.TypeA), "192.0.2.1")
}

func TestFailfastAsksNobodyWhenAllAreDown(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	const properties = quick + "failfast_all_unhealthy_upstreams"
	s := serve(t, properties, up)
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	dnstest.WaitFor(t, "the upstream to be down", runningUpstream(t, properties, up, up).Down)
	up.Use(dnstest.Named(map[string]dnstest.Script{"example.org.": dnstest.A("192.0.2.1")})) // but no probe
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
}

func TestMaxConcurrentRefusesWhatIsOverIt(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	up := dnstest.New(t, func(q *dnstest.Query) {
		if q.Number == 1 {
			close(arrived)
		}
		select {
		case <-release:
		case <-q.Done():
		}
		dnstest.A("192.0.2.1")(q)
	})
	s := serve(t, "max_concurrent 1", up)
	var first *dns.Msg
	var wg sync.WaitGroup
	wg.Go(func() { first = s.Ask(t, "one.example.org.", dns.TypeA) })
	<-arrived
	before := counted(t, "coredns_forward_max_concurrent_rejects_total", nil)
	wantRcode(t, s.Ask(t, "two.example.org.", dns.TypeA), dns.RcodeRefused)
	if n := counted(t, "coredns_forward_max_concurrent_rejects_total", nil) - before; n != 1 {
		t.Errorf("%v rejects counted, want 1", n)
	}
	close(release)
	wg.Wait()
	wantA(t, first, "192.0.2.1")
	dnstest.WaitFor(t, "the place of the first question to be given back", func() bool {
		return s.Ask(t, "three.example.org.", dns.TypeA).Rcode == dns.RcodeSuccess
	})
}
