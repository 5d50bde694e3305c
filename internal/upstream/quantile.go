package upstream

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Latencies are counted in buckets, four to each doubling, from 15.625 µs to 16 s: a quantile is known to a fifth, and
// every fourth bound is one of 0.25 ms, 0.5 ms, 1 ms and so on, as in CoreDNS's other histograms.
const (
	bucketUnit = 15625 * time.Nanosecond
	perOctave  = 4
	buckets    = 19 * perOctave
	// minSamples are needed to know a 95th percentile at all.
	minSamples = 20
	// A quantile is of the last one or two periods, which last periodSamples and periodTime at least.
	periodSamples = 200
	periodTime    = 10 * time.Second
)

// bucketOf returns the bucket of d.
func bucketOf(d time.Duration) int {
	units := uint64(max(d, 0)) / uint64(bucketUnit)
	if units < perOctave {
		return int(units)
	}
	octave := bits.Len64(units) - 3 // units>>octave is 4 to 7
	return min(octave*perOctave+int(units>>octave), buckets-1)
}

// bucketEnd returns the upper bound of a bucket.
func bucketEnd(i int) time.Duration {
	i++
	if i < 2*perOctave {
		return time.Duration(i) * bucketUnit
	}
	octave := i/perOctave - 1
	return time.Duration(perOctave+i%perOctave) << octave * bucketUnit
}

// spread counts latencies. Any number of writers, one reader of quantiles at a time.
type spread struct {
	counts [buckets]atomic.Uint64
	sum    atomic.Int64 // nanoseconds

	// The following belong to the reader: the counts as they were one and two periods ago.
	old, mid [buckets]uint64
	midTotal uint64
	midTime  time.Duration
}

func (s *spread) add(d time.Duration) {
	s.counts[bucketOf(d)].Add(1)
	s.sum.Add(int64(d))
}

// quantiles returns the 50th and the 95th percentile of what came lately; zeros: too little did.
func (s *spread) quantiles(now time.Duration) (median, late time.Duration) {
	var counts [buckets]uint64
	var all, recent uint64
	for i := range counts {
		n := s.counts[i].Load()
		counts[i], all, recent = n, all+n, recent+n-s.old[i]
	}
	if recent >= minSamples {
		median, late = quantile(&counts, &s.old, recent/2), quantile(&counts, &s.old, recent*95/100)
	}
	if all-s.midTotal >= periodSamples && now-s.midTime >= periodTime {
		s.old, s.mid, s.midTotal, s.midTime = s.mid, counts, all, now
	}
	return median, late
}

// quantile returns the upper bound of the bucket that has the sample with rank smaller ones, of those that have come
// since old.
func quantile(counts, old *[buckets]uint64, rank uint64) time.Duration {
	for i := range counts {
		n := counts[i] - old[i]
		if rank < n {
			return bucketEnd(i)
		}
		rank -= n
	}
	return bucketEnd(buckets - 1)
}
