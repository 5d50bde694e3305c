package upstream

import (
	"context"
	"sync"
	"time"
)

// Lateness says why a reply is late.
type Lateness uint8

const (
	// Slow says that the question has been under way for longer than its Patience.
	Slow Lateness = iota
	// Silent says that the resolver has become suspect while the question was under way.
	Silent
)

// Waiter learns that the reply to a question is late, and may ask somebody else in the meantime. The wait goes on: whoever
// has got a better reply ends it by the context.
type Waiter interface {
	// Late is called at most once for each reason, and not after Exchange has returned. It must not block. With most
	// transports it runs on the goroutine that called Exchange.
	Late(why Lateness)
}

// await has q's waiter told when the reply to x is late.
func (x *exchange) await(q *Question, start time.Time, a *alarm) {
	x.waiter = q.Waiter
	x.alarm, x.alarmed = a, a.Done()
	if q.Patience > 0 {
		x.lateAt = start.Add(q.Patience)
	}
}

// sooner is wait, or less if the reply is late before it is over.
func (x *exchange) sooner(now time.Time, wait time.Duration) time.Duration {
	if x.lateAt.IsZero() {
		return wait
	}
	return min(wait, max(x.lateAt.Sub(now), 0))
}

// tellSlow tells the waiter if the reply is late by now.
func (x *exchange) tellSlow(now time.Time) {
	if !x.lateAt.IsZero() && !now.Before(x.lateAt) {
		x.lateAt = time.Time{}
		x.waiter.Late(Slow)
	}
}

func (x *exchange) tellSilent() {
	x.alarmed = nil
	x.waiter.Late(Silent)
}

// tellMeanwhile is for a wait that cannot be interrupted: the waiter is told from other goroutines until stop is called,
// and not any more when that has returned.
func (x *exchange) tellMeanwhile() (stop func()) {
	if x.waiter == nil {
		return func() {}
	}
	var mu sync.Mutex
	over, waiter := false, x.waiter
	tell := func(why Lateness) {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			waiter.Late(why)
		}
	}
	ends := make([]func() bool, 0, 2)
	if x.alarmed != nil {
		x.alarmed = nil
		ends = append(ends, context.AfterFunc(x.alarm, func() { tell(Silent) }))
	}
	if !x.lateAt.IsZero() {
		ends = append(ends, time.AfterFunc(max(time.Until(x.lateAt), 0), func() { tell(Slow) }).Stop)
		x.lateAt = time.Time{}
	}
	return func() {
		for _, end := range ends {
			end()
		}
		mu.Lock()
		over = true
		mu.Unlock()
	}
}
