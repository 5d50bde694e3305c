package upstream

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// live reports what the resolvers are at the moment that somebody asks: a gauge that follows every question would cost
// every question.
type live struct{}

func init() { prometheus.MustRegister(live{}) }

// Describe implements prometheus.Collector.
func (live) Describe(descs chan<- *prometheus.Desc) {
	descs <- stateDesc
	descs <- inFlightDesc
	descs <- replyDurationDesc
}

// Collect implements prometheus.Collector.
func (live) Collect(out chan<- prometheus.Metric) {
	metering.Lock()
	defer metering.Unlock()
	for _, m := range metered {
		inFlight, state, sum := int64(0), Sound, m.past
		for h := range m.users {
			inFlight += h.inFlight.Load()
			state = max(state, h.state())
			sum.add(&h.replies)
		}
		for s := range states {
			is := 0.0
			if s == state {
				is = 1
			}
			out <- prometheus.MustNewConstMetric(stateDesc, prometheus.GaugeValue, is, m.name, m.to, s.String())
		}
		out <- prometheus.MustNewConstMetric(inFlightDesc, prometheus.GaugeValue, float64(inFlight), m.name, m.to)
		count, upTo := sum.histogram()
		out <- prometheus.MustNewConstHistogram(replyDurationDesc, count, sum.sum.Seconds(), upTo, m.name, m.to)
	}
}

// totals is what spreads add up to.
type totals struct {
	counts [buckets]uint64
	sum    time.Duration
}

func (t *totals) add(s *spread) {
	for i := range s.counts {
		t.counts[i] += s.counts[i].Load()
	}
	t.sum += time.Duration(s.sum.Load())
}

// histogram returns how many there are, and how many up to each bound from a quarter of a millisecond on, in seconds.
func (t *totals) histogram() (count uint64, upTo map[float64]uint64) {
	const firstBound, last = 250 * time.Microsecond, 10 * time.Second
	upTo = make(map[float64]uint64)
	for i, n := range t.counts {
		count += n
		if end := bucketEnd(i); (i+1)%perOctave == 0 && end >= firstBound && end <= last {
			upTo[end.Seconds()] = count
		}
	}
	return count, upTo
}
