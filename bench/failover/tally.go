package main

import (
	"errors"
	"net"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// second is what became of the questions that were sent in one second of a run.
type second struct {
	asked, servfails, unanswered int
	// latencies are those of all questions, sorted. One without an answer counts with giveUp.
	latencies []time.Duration
	// queries is how many reached the upstreams in this second.
	queries int
	// firstGood is when, within the second, the first question was sent from which on all of the second's were answered
	// with something else than SERVFAIL within goodEnough; a whole second when there is none.
	firstGood time.Duration
}

// goodEnough is what a client takes for an answer at once.
const goodEnough = 300 * time.Millisecond

// percentile returns the latency that a share p of the questions did not exceed, p in 0..1.
func (s second) percentile(p float64) time.Duration {
	if len(s.latencies) == 0 {
		return 0
	}
	i := int(p*float64(len(s.latencies))+0.999999) - 1
	return s.latencies[min(max(i, 0), len(s.latencies)-1)]
}

// amplification is how many queries reached the upstreams for each question.
func (s second) amplification() float64 {
	if s.asked == 0 {
		return 0
	}
	return float64(s.queries) / float64(s.asked)
}

// tally sorts outcomes and the upstreams' counts into the seconds of a run.
func tally(outcomes []outcome, first, other []int, length time.Duration) []second {
	seconds := make([]second, int(length/time.Second))
	for i := range seconds {
		for _, seen := range [][]int{first, other} {
			if i < len(seen) {
				seconds[i].queries += seen[i]
			}
		}
	}
	for _, o := range outcomes {
		i := int(o.sent / time.Second)
		if i >= len(seconds) {
			continue // the generator was late
		}
		s := &seconds[i]
		s.asked++
		latency := o.latency
		switch {
		case latency == 0:
			s.unanswered++
			latency = giveUp
		case o.rcode == dns.RcodeServerFailure:
			s.servfails++
		}
		s.latencies = append(s.latencies, latency)
		if o.latency == 0 || o.rcode == dns.RcodeServerFailure || latency > goodEnough {
			s.firstGood = o.sent%time.Second + 1
		}
	}
	for i := range seconds {
		slices.Sort(seconds[i].latencies)
	}
	return seconds
}

// isClosed tells whether a socket was closed from here.
func isClosed(err error) bool { return errors.Is(err, net.ErrClosed) }
