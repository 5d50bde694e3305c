package upstream

import (
	"math/bits"
	"sync/atomic"
)

// Two windows of outcomes decide whether a resolver is suspect. They forget by count, not by time: at one question a
// second and at ten thousand the same number of failures says the same. Only how many there are in a window matters, not
// in which order they came.
const (
	// A resolver that fails half of its questions helps nobody who has another one. Sixteen outcomes tell that apart from
	// one that fails a fifth, of which there is less than one chance in a hundred that it looks as bad.
	failureWindow = 16
	maxFailures   = failureWindow / 2
	// minFailures are needed however few the outcomes are, and minAgain when the resolver has just come back.
	minFailures = 4
	minAgain    = 2
	// A path that loses more than a sixth of the datagrams makes as many questions wait for a retransmission.
	lossWindow = 48
	maxLosses  = lossWindow / 6
	// maxAgain is for a resolver that has just come back, whose window is nearly empty.
	maxAgain = 3
)

// ring is the last outcomes as bits, and above them how many there are.
type ring uint64

func (r ring) push(size int, bit uint64) ring {
	mask := uint64(1)<<size - 1
	n := min(uint64(r)>>size+1, uint64(size))
	return ring(n<<size | (uint64(r)<<1|bit)&mask)
}

// len and ones are the numbers of outcomes and of those that were bad.
func (r ring) len(size int) int  { return int(uint64(r) >> size) }
func (r ring) ones(size int) int { return bits.OnesCount64(uint64(r) & (uint64(1)<<size - 1)) }

// window is a ring that many write to.
type window struct {
	size  int
	state atomic.Uint64
}

// add notes an outcome. A window that is full of good ones stays as it is, and costs the hot path a load.
func (w *window) add(bad bool) {
	bit := uint64(0)
	if bad {
		bit = 1
	}
	for {
		old := w.state.Load()
		fresh := uint64(ring(old).push(w.size, bit))
		if fresh == old || w.state.CompareAndSwap(old, fresh) {
			return
		}
	}
}

func (w *window) ring() ring { return ring(w.state.Load()) }

// tooManyFailures judges the window of failures, tooManyLosses that of losses. again: the resolver has just come back, and
// little is needed to send it away.
func tooManyFailures(r ring, again bool) bool {
	bad, least := r.ones(failureWindow), minFailures
	if again {
		least = minAgain
	}
	return bad >= least && 2*bad >= r.len(failureWindow)
}

func tooManyLosses(r ring, again bool) bool {
	most := maxLosses
	if again {
		most = maxAgain
	}
	return r.ones(lossWindow) >= most
}
