package backend

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// counted counts what is looked at, and for.
type counted struct {
	*memory
	steps int
}

func (c *counted) Zone(name string) (*Zone, Store) {
	z, s := c.memory.Zone(name)
	if s == nil {
		return nil, nil
	}
	return z, c
}

func (c *counted) Ascend(from string, yield func(string, *skydns.Record) bool) {
	c.steps++
	c.memory.Ascend(from, func(path string, r *skydns.Record) bool {
		c.steps++
		return yield(path, r)
	})
}

// Each walk has its bound, and one question may start thousands of them for its targets.
func TestTargetsDoNotMultiplyTheSteps(t *testing.T) {
	var services, texts, names strings.Builder
	for i := range MaxRecords {
		fmt.Fprintf(&services, "/skydns/test/zone/s/%04d {\"host\":\"t%d.w.zone.test\",\"port\":%d}\n", i, i, i+1)
	}
	for i := range MaxRecords {
		fmt.Fprintf(&names, "/skydns/test/zone/s/%04d {\"host\":\"%st%d.none.zone.test\",\"port\":%d}\n",
			i, strings.Repeat("x.", 100), i, i+1)
	}
	for i := range MaxSteps + 10 {
		fmt.Fprintf(&texts, "/skydns/test/zone/w/*/%05d {\"text\":\"x\"}\n", i)
	}
	for what, lines := range map[string]string{
		"targets with much that is not asked for": services.String() + texts.String(),
		"long targets that do not exist":          names.String(),
	} {
		m := &counted{memory: newMemory(t, []string{"zone.test."}, lines)}
		r := Resolver{Defaults()}
		res := r.Lookup(context.Background(), m, Question{Name: "s.zone.test.", Type: dns.TypeSRV})
		if len(res.Answer) != MaxRecords || !res.Cut {
			t.Errorf("%s: %d records, cut %t", what, len(res.Answer), res.Cut)
		}
		// The record that ends a walk comes on top of the steps.
		if m.steps > 2*MaxTotalSteps {
			t.Errorf("%s: %d steps, want about %d", what, m.steps, MaxTotalSteps)
		}
	}
}

// When the steps of a question are used up half-way, nobody knows what is at the end of the chain: that is no NXDOMAIN.
func TestChainsOutOfStepsAreNotNegative(t *testing.T) {
	var lines strings.Builder
	for n := range 6 {
		fmt.Fprintf(&lines, "/skydns/test/zone/c%d {\"host\":\"c%d.zone.test\"}\n", n, n+1)
		for i := range MaxSteps - 10 {
			fmt.Fprintf(&lines, "/skydns/test/zone/c%d/%05d {\"text\":\"x\"}\n", n, i)
		}
	}
	lines.WriteString(`/skydns/test/zone/c6 {"host":"10.0.0.1"}`)
	m := newMemory(t, []string{"zone.test."}, lines.String())
	r := Resolver{Defaults()}
	res := r.Lookup(context.Background(), m, Question{Name: "c0.zone.test.", Type: dns.TypeA})
	if res.Rcode != dns.RcodeSuccess || len(res.Answer) < 4 || len(res.Ns) != 0 || !res.Cut {
		t.Errorf("cut %t: %s", res.Cut, show(res))
	}
}

// Lookups that come back by way of names outside share the steps of the question that they are for, side by side too, and
// give back what they do not use.
func TestLookupsOfOneQuestionShareItsSteps(t *testing.T) {
	var lines strings.Builder
	for i := range MaxOutside {
		fmt.Fprintf(&lines, "/skydns/test/zone/s/%04d {\"host\":\"t%d.elsewhere\",\"port\":%d}\n", i, i, i+1)
	}
	for i := range MaxSteps - 10 {
		fmt.Fprintf(&lines, "/skydns/test/zone/w/%05d {\"text\":\"x\"}\n", i)
	}
	m := newMemory(t, []string{"zone.test."}, lines.String())
	r := Resolver{Defaults()}
	var steps Steps
	var walked atomic.Int64
	outside := func(ctx context.Context, _ string, qtype uint16) (*dns.Msg, error) {
		c := &counted{memory: m}
		res := r.Lookup(ctx, c, Question{Name: "w.zone.test.", Type: qtype, Steps: &steps})
		walked.Add(int64(c.steps))
		return &dns.Msg{Answer: res.Answer}, nil
	}
	res := r.Lookup(context.Background(), m, Question{
		Name: "s.zone.test.", Type: dns.TypeSRV, Steps: &steps, Outside: outside,
	})
	if len(res.Answer) != MaxOutside || walked.Load() > MaxTotalSteps+100 || walked.Load() < MaxTotalSteps/2 {
		t.Errorf("%d records after %d steps, want %d in all", len(res.Answer), walked.Load(), MaxTotalSteps)
	}
	left := steps.take(MaxTotalSteps)
	if left+walked.Load() < MaxTotalSteps-100 {
		t.Errorf("%d steps walked and %d left, of %d", walked.Load(), left, MaxTotalSteps)
	}
}
