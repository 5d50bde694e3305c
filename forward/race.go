package forward

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// race is an attempt that has company: other upstreams were asked the same while the first one still owed its reply. The
// first good reply wins. All of it is over when the attempt is.
type race struct {
	p   *pursuit
	ctx context.Context // of the question

	mu      sync.Mutex // guards the following, and what a race changes of the pursuit
	change  sync.Cond  // a runner has ended
	over    bool       // nobody starts any more
	hedged  bool       // one has been sent from the budget
	runners []*runner  // those that have not ended; the first attempt is not among them
	first   *member    // of the first attempt; nil when that has ended

	good, poor result
	err        error // of the last attempt that failed
	errFrom    *member

	ended sync.WaitGroup
}

// result is a reply and whose it is.
type result struct {
	reply *dns.Msg
	from  *member
}

// runner is one of the others. It is a Waiter.
type runner struct {
	race   *race
	m      *member
	hedge  bool // from the budget
	cancel context.CancelFunc
}

// Late implements upstream.Waiter for the first attempt: the reply is late, and another upstream may have it sooner.
func (p *pursuit) Late(why upstream.Lateness) {
	if why == upstream.Slow {
		if p.late = true; !p.f.hedges {
			return
		}
	}
	r := p.race
	if r == nil {
		r = &race{p: p, ctx: p.ctx, first: p.first}
		r.change.L = &r.mu
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.late(why) {
		p.race = r
	}
}

// Late implements upstream.Waiter.
func (c *runner) Late(why upstream.Lateness) {
	r := c.race
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.late(why) && why == upstream.Silent && r.first == nil && r.poor.reply != nil {
		c.cancel() // there is a reply, if not a good one, and nobody will have a better one soon
	}
}

// late has another upstream asked if there is reason to, and tells whether it did. The lock is held.
//
// A question whose upstream is merely slow may wait, so its copy has to be within the budget. One whose upstream has
// gone silent moves on, as it would after a time-out.
func (r *race) late(why upstream.Lateness) bool {
	if r.over || r.good.reply != nil {
		return false
	}
	if why == upstream.Slow && r.hedged || why == upstream.Silent && !r.hopeless() {
		return false
	}
	i, ok := r.p.another()
	if !ok || why == upstream.Slow && !r.p.f.budget.take() {
		return false
	}
	r.p.asked.add(i)
	r.start(r.p.members[i], why)
	return true
}

// hopeless tells whether nobody who is well has been asked. The lock is held.
func (r *race) hopeless() bool {
	if r.first != nil && r.first.State() < upstream.Suspect {
		return false
	}
	return !slices.ContainsFunc(r.runners, func(c *runner) bool { return c.m.State() < upstream.Suspect })
}

// start asks m as well. The lock is held.
func (r *race) start(m *member, why upstream.Lateness) {
	if why == upstream.Slow {
		r.hedged = true
		hedgeCount.Inc()
	} else {
		movedCount.Inc()
	}
	ctx, cancel := context.WithDeadline(r.ctx, attemptDeadline(time.Now(), r.p.deadline, r.p.f.block.readTimeout, true))
	c := &runner{race: r, m: m, hedge: why == upstream.Slow, cancel: cancel}
	r.runners = append(r.runners, c)
	r.ended.Go(func() {
		defer cancel()
		c.run(ctx)
	})
}

func (c *runner) run(ctx context.Context) {
	p := c.race.p
	traced, finish := trace(ctx, c.m.Addr())
	answer, err := c.m.Exchange(traced, upstream.Question{Msg: p.state.Req, Proto: p.proto, Waiter: c})
	finish(err)
	if len(p.f.taps) > 0 {
		p.f.tap(ctx, p.state, c.m, answer)
	}
	r := c.race
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runners = slices.DeleteFunc(r.runners, func(other *runner) bool { return other == c })
	if r.arrived(c.m, answer.Msg, err) {
		if c.hedge {
			hedgeWonCount.Inc()
		}
		if r.first != nil {
			p.cancel()
		}
	}
	r.change.Signal()
}

// arrived takes in how an attempt at m ended, and tells whether that decides the race. The lock is held.
func (r *race) arrived(m *member, reply *dns.Msg, err error) (won bool) {
	switch {
	case r.over || r.good.reply != nil: // lost, or canceled for that
	case err == nil && !r.p.f.block.rules.isPoor(reply):
		r.good = result{reply, m}
		return true
	case err == nil:
		r.poor = result{reply, m}
	case errors.Is(err, upstream.ErrLimited): // as if it had not been asked
	default:
		if m != r.first {
			r.p.attempts++ // those of the first are counted with it
		}
		r.err, r.errFrom = err, m
	}
	return false
}

// settle waits until there is a good reply or nobody is left who could have one, and ends what is still under way. It
// takes how the first attempt ended, and returns how the race did.
func (r *race) settle(reply *dns.Msg, err error) (result, error) {
	r.mu.Lock()
	r.arrived(r.first, reply, err)
	r.first = nil
	for r.good.reply == nil && len(r.runners) > 0 {
		r.change.Wait()
	}
	r.over = true
	for _, c := range r.runners {
		c.cancel()
	}
	r.mu.Unlock()
	r.ended.Wait()
	switch {
	case r.good.reply != nil:
		return r.good, nil
	case r.poor.reply != nil:
		return r.poor, nil
	}
	return result{from: r.errFrom}, r.err
}
