package upstream

import (
	"sync/atomic"
	"time"
)

const (
	// initialRTO is waited for the first reply of a resolver of which nothing is known: a recursive resolver that must
	// ask others itself is often slower than the 100 ms of the network, rarely than this.
	initialRTO = 400 * time.Millisecond
	// minRTO keeps a resolver that answers from its cache within a millisecond from being asked twice whenever it has to
	// ask others.
	minRTO = 150 * time.Millisecond
	maxRTO = time.Second
	// probeRTO is for probes, whose answers come from the cache of whoever is asked.
	probeRTO = 250 * time.Millisecond
	// maxSends is how often one attempt puts its question on the wire over UDP, all in all.
	maxSends = 3
)

// latency is what the replies of a resolver have taken lately, from the first transmission on: mean and mean deviation
// as in RFC 6298. Replies to questions that were sent twice count with the whole time, so that a resolver that has
// become slow is learned to be slow. The zero value knows nothing.
type latency struct {
	// state is the mean in the upper and the deviation in the lower half, in microseconds. A lost update between two
	// writers loses one sample, which does not matter.
	state atomic.Uint64
	// fastest is the shortest sample in nanoseconds, or 0.
	fastest atomic.Int64
}

func (l *latency) add(sample time.Duration) {
	l.state.Store(nextLatency(l.state.Load(), sample))
	if f := l.fastest.Load(); f == 0 || int64(sample) < f {
		l.fastest.Store(int64(sample))
	}
}

// mean returns zero before the first sample.
func (l *latency) mean() time.Duration {
	return time.Duration(l.state.Load()>>32) * time.Microsecond
}

// rto is how long to wait until the first retransmission.
func (l *latency) rto() time.Duration { return rtoOf(l.state.Load()) }

func nextLatency(state uint64, sample time.Duration) uint64 {
	s := max(int64(sample/time.Microsecond), 1)
	mean, deviation := int64(state>>32), int64(uint32(state))
	if state == 0 {
		mean, deviation = s, s/2
	} else {
		off := s - mean
		mean += off / 8
		deviation += (max(off, -off) - deviation) / 4
	}
	const limit = 1<<32 - 1
	return uint64(min(max(mean, 1), limit))<<32 | uint64(min(max(deviation, 0), limit))
}

func rtoOf(state uint64) time.Duration {
	if state == 0 {
		return initialRTO
	}
	mean, deviation := state>>32, uint64(uint32(state))
	return min(max(time.Duration(mean+4*deviation)*time.Microsecond, minRTO), maxRTO)
}
