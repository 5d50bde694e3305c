package upstream

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// simulated is a carrier without a network, for clocks that only testing/synctest moves. Questions and probes get the
// same treatment.
type simulated struct {
	h  *health
	mu sync.Mutex // held for calls of the following
	// takes says how long the reply takes to a question that was sent at now; less than zero: there is none.
	takes func(now time.Duration) time.Duration
	rcode func() int // nil: NOERROR
	err   func() error

	questions, probes atomic.Int64
	probeTimes        []time.Duration // there is one probe at a time
}

func (s *simulated) limits() packing { return packing{} }
func (s *simulated) close()          {}

func (s *simulated) carry(ctx context.Context, x *exchange) error {
	x.setID(0)
	x.proto, x.sent = "udp", time.Now()
	now := s.h.at(x.sent)
	s.mu.Lock()
	takes, rcode, failure := s.takes(now), 0, error(nil)
	if s.rcode != nil {
		rcode = s.rcode()
	}
	if s.err != nil {
		failure = s.err()
	}
	s.mu.Unlock()
	if x.probe {
		s.probes.Add(1)
		s.probeTimes = append(s.probeTimes, now)
	} else {
		s.questions.Add(1)
	}
	if failure != nil {
		return failure
	}
	if takes < 0 {
		takes = time.Hour
	}
	deadline := time.After(DefaultReadTimeout)
	reply := time.After(takes)
	for {
		late := make(<-chan time.Time)
		if !x.lateAt.IsZero() {
			late = time.After(time.Until(x.lateAt))
		}
		select {
		case <-ctx.Done():
			return ofContext(ctx)
		case <-deadline:
			return ErrTimeout
		case <-x.alarmed:
			x.tellSilent()
		case now := <-late:
			x.tellSlow(now)
		case <-reply:
			x.reply = append(x.reply[:0], x.query...)
			x.reply[2] |= 0x80
			x.reply[3] |= byte(rcode)
			x.received = time.Now()
			return nil
		}
	}
}

// simulate returns a resolver without a network. It has to be called in a bubble.
func simulate(t *testing.T, c Config, takes func(now time.Duration) time.Duration) (*Resolver, *simulated) {
	t.Helper()
	// Channels and timers of one bubble must not be used in another.
	before := exchanges
	exchanges = newExchanges()
	periodic := c.Probe.Periodic
	c.Name, c.Addr, c.Probe.Periodic = "simulated", valid().Addr, false
	r, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &simulated{h: r.health, takes: takes}
	r.datagrams, r.streams = nil, s
	if r.health.prober.periodic = periodic; periodic {
		r.health.prober.start()
	}
	t.Cleanup(func() {
		r.Close()
		exchanges = before
	})
	return r, s
}

// takes answers after d.
func takes(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// until answers after d up to a moment, and not at all from then on.
func until(end, d time.Duration) func(time.Duration) time.Duration {
	return func(now time.Duration) time.Duration {
		if now >= end {
			return -1
		}
		return d
	}
}

// once asks r one question and returns the error.
func once(r *Resolver) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := r.Exchange(ctx, Question{Msg: question("example.org.")})
	return err
}

// pour asks r so many questions a second for d, and waits for nobody.
func pour(r *Resolver, perSecond int, d time.Duration) {
	end := time.Now().Add(d)
	for time.Now().Before(end) {
		go once(r)
		time.Sleep(time.Second / time.Duration(perSecond))
	}
}

// stateAfter waits until the state of r is want, for max at most, and returns how long that took.
func stateAfter(t *testing.T, r *Resolver, want State, most time.Duration) time.Duration {
	t.Helper()
	start := time.Now()
	for r.State() != want {
		if time.Since(start) > most {
			t.Errorf("still %s after %v, want %s", r.State(), most, want)
			break
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(start)
}
