package forward

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/coredns/coredns/plugin/metadata"
	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// forever is a read timeout that no test lives to see: what is answered under it was not answered because of a time-out.
const forever = "read_timeout 1h\ntimeout 1h\n"

// firstHas makes the first of two upstreams the one that is asked, and hedges all questions after 20ms.
const firstHas = forever + "policy sequential\nhedge 20ms 100%\n"

func TestALateQuestionIsAnsweredByASecondUpstream(t *testing.T) {
	first, second := dnstest.New(t, dnstest.Drop), dnstest.New(t, dnstest.A("192.0.2.2"))
	s := serve(t, firstHas, first, second)
	sent, won := counted(t, "coredns_forward_hedges_total", nil), counted(t, "coredns_forward_hedges_won_total", nil)
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.2")
	if got := counted(t, "coredns_forward_hedges_total", nil) - sent; got != 1 {
		t.Errorf("%v hedges counted, want 1", got)
	}
	if got := counted(t, "coredns_forward_hedges_won_total", nil) - won; got != 1 {
		t.Errorf("%v won hedges counted, want 1", got)
	}
}

func TestNobodyIsHedgedWhereTheOrderMattersOrHedgingIsOff(t *testing.T) {
	for _, properties := range []string{"policy sequential", "policy sequential\nhedge off"} {
		first := dnstest.New(t, dnstest.Delay(100*time.Millisecond, dnstest.A("192.0.2.1")))
		second := dnstest.New(t, dnstest.A("192.0.2.2"))
		s := serve(t, forever+properties, first, second)
		wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
		if n := second.Questions(""); n != 0 {
			t.Errorf("%q: the second upstream was asked %d times", properties, n)
		}
	}
	if f := newForward(mustParse(t, "forward . 10.0.0.1 10.0.0.2 {\nhedge off\n}")); f.hedges {
		t.Error("hedge off hedges under random")
	}
	for _, p := range []string{"random", "round_robin", "least_latency"} {
		if f := newForward(mustParse(t, "forward . 10.0.0.1 10.0.0.2 {\npolicy "+p+"\n}")); !f.hedges {
			t.Errorf("%s does not hedge", p)
		}
	}
}

// Two upstreams were asked, and one counts.
func TestMetadataNameTheUpstreamThatWon(t *testing.T) {
	first, second := dnstest.New(t, dnstest.Drop), dnstest.New(t, dnstest.A("192.0.2.2"))
	f := handler(t, stanza(firstHas, first, second))
	ctx := metadata.ContextWithMetadata(context.Background())
	if _, _, err := ask(ctx, f); err != nil {
		t.Fatal(err)
	}
	if value := metadata.ValueFunc(ctx, "forward/upstream"); value == nil || value() != second.Addr().String() {
		t.Errorf("metadata do not name %s", second.Addr())
	}
}

// A question that nobody answers costs no more attempts because others were asked as well.
func TestAttemptsOfARaceCount(t *testing.T) {
	first, second := dnstest.New(t, dnstest.Drop), dnstest.New(t, dnstest.Drop)
	const properties = "policy sequential\nhedge 10ms 100%\nread_timeout 100ms\nmax_fails 0\nmax_connect_attempts 2"
	f := handler(t, stanza(properties, first, second))
	if _, rcode, err := ask(t.Context(), f); rcode != dns.RcodeServerFailure || !errors.Is(err, upstream.ErrTimeout) {
		t.Errorf("rcode %d and %v", rcode, err)
	}
	if a, b := first.Questions(""), second.Questions(""); a != 1 || b != 1 {
		t.Errorf("%d and %d questions, want one each", a, b)
	}
}

// after answers as script does once it was told to.
func after(told <-chan struct{}, script dnstest.Script) dnstest.Script {
	return func(q *dnstest.Query) {
		<-told
		script(q)
	}
}

// The first reply wins only if it is a good one.
func TestAPoorReplyWaitsForABetterOne(t *testing.T) {
	servfail, good := dnstest.Rcode(dns.RcodeServerFailure), dnstest.A("192.0.2.9")
	t.Run("of the second", func(t *testing.T) {
		asked := make(chan struct{})
		ask := sync.OnceFunc(func() { close(asked) })
		first := dnstest.New(t, after(asked, servfail))
		second := dnstest.New(t, func(q *dnstest.Query) {
			ask()
			dnstest.Delay(100*time.Millisecond, good)(q)
		})
		s := serve(t, firstHas, first, second)
		wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.9")
	})
	t.Run("of the first", func(t *testing.T) {
		asked := make(chan struct{})
		ask := sync.OnceFunc(func() { close(asked) })
		first := dnstest.New(t, after(asked, dnstest.Delay(100*time.Millisecond, good)))
		second := dnstest.New(t, func(q *dnstest.Query) {
			servfail(q)
			ask()
		})
		s := serve(t, firstHas, first, second)
		wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.9")
	})
	t.Run("of nobody", func(t *testing.T) {
		asked := make(chan struct{})
		ask := sync.OnceFunc(func() { close(asked) })
		first := dnstest.New(t, after(asked, servfail))
		second := dnstest.New(t, func(q *dnstest.Query) {
			ask()
			servfail(q)
		})
		s := serve(t, firstHas, first, second)
		wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	})
}

// In whatever way the questions and the copies come, and whenever nobody asked for a while.
func TestCopiesNeverExceedTheirShare(t *testing.T) {
	for round := range 200 {
		share := []float64{0.001, 0.05, 0.5, 1}[round%4]
		b := newBudget(share)
		questions, copies := 0, 0
		for range 2000 {
			if rand.IntN(3) > 0 {
				b.note()
				questions++
			} else if b.take() {
				copies++
			}
			if most := share*float64(questions) + hedgeBurst; float64(copies) > most {
				t.Fatalf("%d copies of %d questions at a share of %v, want %v at most", copies, questions, share, most)
			}
		}
		for range 1_000_000 {
			b.note()
		}
		for copies = 0; b.take(); copies++ {
		}
		if copies > hedgeBurst {
			t.Errorf("%d copies at once after a long time without", copies)
		}
	}
}

func TestPatienceIsWhatTheUpstreamTakesAndNeverNoise(t *testing.T) {
	for _, tt := range []struct {
		h           hedging
		usual, want time.Duration
	}{
		{hedging{}, 0, coldPatience},
		{hedging{}, time.Millisecond, minPatience},
		{hedging{}, 70 * time.Millisecond, 70 * time.Millisecond},
		{hedging{delay: 5 * time.Millisecond}, 70 * time.Millisecond, 5 * time.Millisecond},
	} {
		if got := tt.h.patience(tt.usual); got != tt.want {
			t.Errorf("%v with %s usual: %s, want %s", tt.h, tt.usual, got, tt.want)
		}
	}
}

// B7: questions to an upstream that had just gone away waited for the read timeout, under every policy.
func TestQuestionsMoveOnWhenTheirUpstreamGoesSilent(t *testing.T) {
	for _, policy := range []string{"sequential", "round_robin\nhedge off", "random"} {
		t.Run(policy, func(t *testing.T) {
			first, second := dnstest.New(t, dnstest.Drop), dnstest.New(t, dnstest.A("192.0.2.2"))
			s := serve(t, forever+"policy "+policy, first, second)
			moved := counted(t, "coredns_forward_moved_total", nil)
			var wg sync.WaitGroup
			for i := range 80 { // several dozen for each, which leave no doubt
				wg.Go(func() { wantA(t, s.Ask(t, fmt.Sprintf("n%d.example.org.", i), dns.TypeA), "192.0.2.2") })
			}
			wg.Wait()
			if counted(t, "coredns_forward_moved_total", nil) == moved {
				t.Error("no question was counted as moved")
			}
		})
	}
}

// An upstream that loses one question in five is well as far as health can tell, and nobody's choice.
func TestAnUpstreamThatIsOftenLateIsSparedForAWhile(t *testing.T) {
	for _, tt := range []struct {
		of   int // one in so many is late
		want bool
	}{{5, true}, {20, false}} {
		var s steadiness
		now := time.Minute
		spared := false
		for i := range 20_000 {
			if s.note(i%tt.of == 0) {
				s.spare(now)
			}
			spared = spared || !s.steady(now)
		}
		if spared != tt.want {
			t.Errorf("one question of %d late: spared %t, want %t", tt.of, spared, tt.want)
		}
	}
}

func TestSpellsGrowAndAreForgotten(t *testing.T) {
	var s steadiness
	trouble := func(now time.Duration) (spared time.Duration) {
		for i := 0; s.steady(now) && i < 1000; i++ {
			if s.note(true) {
				s.spare(now)
			}
		}
		for s.spare(now + spared); !s.steady(now + spared); spared += time.Second {
		}
		return spared
	}
	now := time.Hour
	for _, want := range []time.Duration{firstSpell, 2 * firstSpell, 4 * firstSpell, maxSpell, maxSpell} {
		got := trouble(now)
		if got != want {
			t.Errorf("spared for %s, want %s", got, want)
		}
		now += got + time.Second
	}
	if got := trouble(now + 2*maxSpell); got != firstSpell {
		t.Errorf("spared for %s after a long good time, want %s", got, firstSpell)
	}
}

func TestUnsteadyUpstreamsAreAskedWhenThereIsNoOther(t *testing.T) {
	a, b := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	f := handler(t, stanza("", a, b))
	members := f.roster.current.Load().members
	away := int64(time.Since(epoch) + time.Hour)
	members[0].out.Store(away)
	for range 20 {
		if _, _, err := ask(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if n := a.Questions(""); n != 0 {
		t.Errorf("the unsteady one was asked %d times", n)
	}
	members[1].out.Store(away)
	for range 40 { // all to one of them: once in 2^40 runs
		if _, _, err := ask(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if n := a.Questions(""); n == 0 {
		t.Error("two unsteady ones are not equals")
	}
}

// A pause of this process makes the replies of all upstreams late, and none of them worse than the others.
func TestAllLateIsNobodysFault(t *testing.T) {
	p := &pursuit{members: someMembers(t, 3), deadline: time.Now()}
	for range 200 {
		for _, m := range p.members {
			p.judge(m, true)
		}
	}
	for i, m := range p.members {
		if !m.steady(p.now()) {
			t.Errorf("upstream %d is spared", i)
		}
	}
	for range 400 {
		p.judge(p.members[0], true)
		p.judge(p.members[1], false)
	}
	if p.members[0].steady(p.now()) || !p.members[1].steady(p.now()) {
		t.Error("one that is always late beside one that never is")
	}
}

// One that is often late still answers: whoever waits for one that has gone silent is better off there.
func TestAnUnsteadyUpstreamIsBetterThanASuspectOne(t *testing.T) {
	first, second := dnstest.New(t, dnstest.Drop), dnstest.New(t, dnstest.A("192.0.2.2"))
	const properties = forever + "policy round_robin\nhedge off"
	s := serve(t, properties, first, second)
	runningUpstream(t, properties, second, first, second).out.Store(int64(time.Since(epoch) + time.Hour))
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() { wantA(t, s.Ask(t, fmt.Sprintf("n%d.example.org.", i), dns.TypeA), "192.0.2.2") })
	}
	wg.Wait()
}
