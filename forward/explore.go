package forward

import (
	"context"
	"sync"
	"time"

	"github.com/trident-dns/trident/internal/upstream"
)

// exploreEvery is how often an upstream that policy least_latency does not choose gets the copy of a question: it would
// stay slow for ever if nobody looked.
const exploreEvery = time.Second

// now is the time of the question from epoch on. It does not read the clock again: some time after now does as well.
func (p *pursuit) now() time.Duration { return p.deadline.Sub(epoch) }

// epoch is what times are counted from where they have to be numbers.
var epoch = time.Now()

// explore sends a copy of the question, which is about to go to chosen, to another upstream that has not been asked for a
// while. The question does not wait for it, and the budget of copies bounds it.
func (p *pursuit) explore(chosen int) {
	now := int64(p.now())
	if m := p.members[chosen]; now-m.asked.Load() > int64(exploreEvery/8) {
		m.asked.Store(now)
	}
	for i, m := range p.members {
		last := m.asked.Load()
		if i == chosen || now-last < int64(exploreEvery) || m.State() != upstream.Sound {
			continue
		}
		if m.asked.CompareAndSwap(last, now) && p.f.budget.take() {
			exploredCount.Inc()
			p.f.roster.scouts.send(m, upstream.Question{Msg: p.state.Req.Copy(), Proto: p.proto})
		}
		return
	}
}

// scouts are questions that are asked only for how long the reply takes. The zero value is ready.
type scouts struct {
	mu     sync.Mutex // guards the following
	ctx    context.Context
	cancel context.CancelFunc
	closed bool
	ended  sync.WaitGroup
}

// send asks m. The outcome is m's own to take in.
func (s *scouts) send(m *member, q upstream.Question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancel(context.Background())
	}
	s.ended.Go(func() { _, _ = m.Exchange(s.ctx, q) }) // ends with read_timeout
}

// close ends all that is under way and waits for it.
func (s *scouts) close() {
	s.mu.Lock()
	s.closed = true
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	s.ended.Wait()
}
