package forward

import (
	"sync"
	"sync/atomic"
)

// hedgeBurst is how many copies may go out at once after a quiet time. A fault makes a handful of questions late before
// the upstream is known to be sick, and those should not wait; more would be load that the upstreams feel.
const hedgeBurst = 8

// budget bounds the copies of questions by a share of the questions, so that an upstream that is slow because it has too
// much to do does not get more. It is a token bucket that is filled by questions, not by time.
type budget struct {
	share float64 // copies for each question
	asked atomic.Uint64

	mu     sync.Mutex // guards the following
	tokens float64
	seen   uint64 // questions that the tokens have been counted for
}

func newBudget(share float64) *budget { return &budget{share: share, tokens: hedgeBurst} }

// note counts a question that goes to an upstream, and returns how many there were with it.
func (b *budget) note() uint64 { return b.asked.Add(1) }

// take tells whether a copy may be sent.
func (b *budget) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.asked.Load()
	b.tokens = min(b.tokens+float64(asked-b.seen)*b.share, hedgeBurst)
	b.seen = asked
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
