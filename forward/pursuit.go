package forward

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/coredns/coredns/plugin/metadata"
	"github.com/coredns/coredns/request"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// pursuit is one question on its way through the upstreams of a block, from the first attempt to the reply or to giving
// up. It is used by one goroutine, and then again for another question: the stack of a server's goroutine has only just
// begun to grow.
type pursuit struct {
	f        *Forward
	state    request.Request
	proto    string // of the client: "udp" or "tcp"
	deadline time.Time

	flight *flight // what others who ask the same wait for; nil until own is called
	like   likeness
	shard  *flightShard // of like

	members []*member
	turn    uint64

	asked     set  // in this pass
	attempts  int  // failed ones
	before    int  // those of earlier passes
	passes    int  // ended ones
	desperate bool // all upstreams were down, and one is asked all the same

	reply  *dns.Msg // the last one, whether it is good enough or not
	from   *member  // whose reply it is
	err    error    // of the last failed attempt
	failed *member  // whose error it is

	// The attempt under way.
	ctx    context.Context // of the question
	cancel context.CancelFunc
	first  *member
	late   bool
	race   *race // nil unless others were asked as well
}

var pursuits = sync.Pool{New: func() any { return new(pursuit) }}

func newPursuit(f *Forward, w dns.ResponseWriter, r *dns.Msg) *pursuit {
	p := pursuits.Get().(*pursuit)
	p.f, p.state, p.deadline = f, request.Request{W: w, Req: r}, time.Now().Add(f.block.budget)
	p.proto = p.state.Proto()
	return p
}

// release gives p back.
func (p *pursuit) release() {
	*p = pursuit{flight: p.flight}
	pursuits.Put(p)
}

// run asks until there is a reply to hand on. The error is that of the last attempt, or says why there was none.
func (p *pursuit) run(ctx context.Context) (*dns.Msg, error) {
	if p.members = p.f.roster.members(ctx, p.deadline); len(p.members) == 0 {
		return nil, ErrNoUpstream
	}
	p.turn = p.f.budget.note()
	for ctx.Err() == nil {
		i, ok := p.choose()
		if !ok || !p.rest(ctx) {
			break
		}
		p.asked.add(i)
		if p.f.block.policy == leastLatency && len(p.members) > 1 {
			p.explore(i)
		}
		end, err := p.attempt(ctx, p.members[i])
		if err != nil {
			p.note(err, end.from)
			if !p.persists(ctx, err) {
				break
			}
			continue
		}
		p.reply, p.from = end.reply, end.from
		if !p.f.block.rules.failsOver(p.reply) {
			break
		}
	}
	if p.reply != nil {
		return p.reply, nil
	}
	return nil, p.failure(ctx)
}

// note keeps the error to end with. That an upstream was at a limit says less than any other.
func (p *pursuit) note(err error, from *member) {
	if p.err == nil || !limited(err) {
		p.err, p.failed = err, from
	}
}

// failure says why there is no reply.
func (p *pursuit) failure(ctx context.Context) error {
	switch {
	case p.err != nil && limited(p.err):
		limitRejectCount.Inc()
		return explain(p.failed.Addr(), p.err)
	case p.err != nil:
		return explain(p.failed.Addr(), p.err)
	case ctx.Err() != nil || !time.Now().Before(p.deadline):
		return ErrBudget
	}
	return ErrNoHealthy
}

// rest waits between the passes of a question that is allowed more than the usual two, so that upstreams that fail at
// once are not asked thousands of times. It reports false when the time is over.
func (p *pursuit) rest(ctx context.Context) bool {
	left := time.Until(p.deadline)
	if left <= 0 {
		return false
	}
	wait := between(p.passes)
	if wait == 0 || p.asked != (set{}) { // within a pass
		return true
	}
	if wait >= left {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// persists decides after a failed attempt whether to go on.
func (p *pursuit) persists(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, upstream.ErrRequest) || errors.Is(err, upstream.ErrUnsupported) {
		return false
	}
	if limited(err) {
		return true // nothing was sent; choose ends it when nobody has room
	}
	p.attempts++
	most := p.f.block.attempts(len(p.members))
	if p.desperate && !errors.Is(err, upstream.ErrTimeout) {
		return false // asking somebody who is down again at once finds the same
	}
	return most == 0 || p.attempts < most
}

// attempt asks one upstream, once, and others when that one is late.
func (p *pursuit) attempt(ctx context.Context, m *member) (result, error) {
	b := p.f.block
	most := b.attempts(len(p.members))
	another := most == 0 || p.attempts+1 < most
	bounded, cancel, done := within(ctx, m, attemptDeadline(time.Now(), p.deadline, b.readTimeout, another))
	defer done()
	bounded, finish := trace(bounded, m.Addr())
	metadata.SetValueFunc(ctx, "forward/upstream", m.name)

	q := upstream.Question{Msg: p.state.Req, Proto: p.proto}
	if len(p.members) > 1 && !p.desperate {
		p.ctx, p.cancel, p.first, p.late = ctx, cancel, m, false
		q.Waiter = p
		if p.f.hedges || b.policy != sequential {
			q.Patience = b.hedge.patience(m.Late())
		}
	}
	answer, err := m.Exchange(bounded, q)
	finish(err)
	if q.Patience > 0 && b.hedge.delay == 0 {
		p.judge(m, p.late)
	}
	if len(p.f.taps) > 0 {
		p.f.tap(ctx, p.state, m, answer)
	}
	if p.race != nil {
		return p.settle(answer.Msg, err)
	}
	return result{answer.Msg, m}, err
}

// settle ends the race that the attempt has become.
func (p *pursuit) settle(reply *dns.Msg, err error) (end result, _ error) {
	r := p.race
	end, err = r.settle(reply, err)
	p.race = nil
	metadata.SetValueFunc(r.ctx, "forward/upstream", end.from.name)
	return end, err
}
