package forward

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trident-dns/trident/internal/upstream"
)

// within returns a context for an attempt at m that ends at deadline at the latest, what ends it before, and what gives it
// back. It must not be ended after that.
//
// It is context.WithDeadline, made five allocations cheaper for the usual case: a server's context that never ends by
// itself, and a transport that is done with its context when the exchange is over. Clients of HTTP and QUIC are not.
func within(ctx context.Context, m *member, deadline time.Time) (bounded context.Context, cancel, done context.CancelFunc) {
	if ctx.Done() != nil || m.Transport() > upstream.TLS {
		bounded, cancel = context.WithDeadline(ctx, deadline)
		return bounded, cancel, cancel
	}
	b, ok := bounds.Get().(*bound)
	if !ok {
		b = newBound()
	}
	b.Context, b.deadline = ctx, deadline
	b.timer.Reset(time.Until(deadline))
	return b, b.cancel, b.release
}

// bound is a context with a deadline that is used again and again.
type bound struct {
	context.Context
	deadline time.Time
	over     chan struct{} // closed at the deadline; a bound whose channel was closed is not used again
	canceled atomic.Bool   // over was closed before the deadline
	timer    *time.Timer
	cancel   context.CancelFunc
	release  context.CancelFunc
}

var bounds sync.Pool

func newBound() *bound {
	b := &bound{over: make(chan struct{})}
	b.timer = time.AfterFunc(time.Hour, func() { close(b.over) })
	b.timer.Stop()
	b.cancel = func() {
		if b.timer.Stop() {
			b.canceled.Store(true)
			close(b.over)
		}
	}
	b.release = func() {
		if b.timer.Stop() {
			b.Context = nil
			bounds.Put(b)
		}
	}
	return b
}

// Deadline implements context.Context.
func (b *bound) Deadline() (time.Time, bool) { return b.deadline, true }

// Done implements context.Context.
func (b *bound) Done() <-chan struct{} { return b.over }

// Err implements context.Context.
func (b *bound) Err() error {
	select {
	case <-b.over:
		if b.canceled.Load() {
			return context.Canceled
		}
		return context.DeadlineExceeded
	default:
		return b.Context.Err()
	}
}
