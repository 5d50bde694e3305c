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
	turn    uint32

	asked     set  // in this pass
	attempts  int  // failed ones
	passes    int  // ended ones
	desperate bool // all upstreams were down, and one was asked all the same

	reply *dns.Msg // the last one, whether it is good enough or not
	err   error    // of the last failed attempt
	from  *member  // whose reply it is
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
	if p.f.block.policy == roundRobin {
		p.turn = p.f.turn.Add(1)
	}
	var failed *member // p.err is its error
	for ctx.Err() == nil {
		i, ok := p.choose()
		if !ok || !p.rest(ctx) {
			break
		}
		p.asked.add(i)
		reply, err := p.attempt(ctx, p.members[i])
		if err != nil {
			p.err, failed = err, p.members[i]
			if !p.persists(ctx, failed) {
				break
			}
			continue
		}
		p.reply, p.from = reply, p.members[i]
		if !p.f.block.rules.failsOver(reply) {
			break
		}
	}
	switch {
	case p.reply != nil:
		return p.reply, nil
	case p.err != nil:
		return nil, explain(failed.Addr(), p.err)
	case ctx.Err() != nil || !time.Now().Before(p.deadline):
		return nil, ErrBudget
	}
	return nil, ErrNoHealthy
}

// choose picks the upstream to ask next; ok is false when there is none. Upstreams that are up come first, each once,
// and then again from the beginning as long as attempts are left, unless there is a reply to hand on by then. When all
// are down, health checking is taken to be what is broken, and one of them is asked at random.
func (p *pursuit) choose() (i int, ok bool) {
	var up, all set
	for i, m := range p.members {
		all.add(i)
		if !m.Down() {
			up.add(i)
		}
	}
	if fresh := up.without(p.asked); fresh.size() > 0 {
		return p.f.block.policy.choose(fresh, p.turn), true
	}
	if p.reply != nil || p.desperate {
		return 0, false
	}
	if up.size() > 0 {
		p.asked = set{}
		p.passes++
		return p.f.block.policy.choose(up, p.turn), true
	}
	p.desperate = true
	allDownCount.Inc()
	if p.f.block.failfast {
		return 0, false
	}
	return random.choose(all, 0), true
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

// persists decides after a failed attempt whether to go on, and has the upstream probed if it may be to blame.
func (p *pursuit) persists(ctx context.Context, m *member) bool {
	if ctx.Err() != nil || errors.Is(p.err, upstream.ErrRequest) || errors.Is(p.err, upstream.ErrUnsupported) {
		return false
	}
	m.Failed()
	p.attempts++
	most := p.f.block.attempts(len(p.members))
	return !p.desperate && (most == 0 || p.attempts < most)
}

// attempt asks one upstream, once.
func (p *pursuit) attempt(ctx context.Context, m *member) (*dns.Msg, error) {
	b := p.f.block
	most := b.attempts(len(p.members))
	another := most == 0 || p.attempts+1 < most
	bounded, done := within(ctx, m, attemptDeadline(time.Now(), p.deadline, b.readTimeout, another))
	defer done()
	bounded, finish := trace(bounded, m.Addr())
	metadata.SetValueFunc(ctx, "forward/upstream", m.name)

	answer, err := m.Exchange(bounded, upstream.Question{Msg: p.state.Req, Proto: p.proto})
	finish(err)
	if len(p.f.taps) > 0 {
		p.f.tap(ctx, p.state, m, answer)
	}
	return answer.Msg, err
}
