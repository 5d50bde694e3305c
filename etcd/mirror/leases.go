package mirror

import (
	"context"
	"math"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Leases knows the granted TTL of the leases that keys of the feeds hang on. Each is asked for once, in the background.
type Leases struct {
	timing Timing
	conn   *connector

	ttls sync.Map // lease ID (int64) to granted TTL in seconds (uint32); absent until known

	mu     sync.Mutex // guards the following
	queued map[int64]struct{}
	order  []int64       // of the queued ones
	wake   chan struct{} // holds a token when something was queued
}

func newLeases(t Timing, conn *connector) *Leases {
	return &Leases{timing: t, conn: conn, queued: map[int64]struct{}{}, wake: make(chan struct{}, 1)}
}

// TTL returns the TTL that the lease was granted, in seconds: not what is left of it, which a keep-alive renews all the
// time. It returns false until etcd has told. It takes no lock and may be called for each question.
func (l *Leases) TTL(id int64) (uint32, bool) {
	v, ok := l.ttls.Load(id)
	if !ok {
		return 0, false
	}
	return v.(uint32), true
}

// want queues a question about the lease, unless its TTL is known or it is queued already.
func (l *Leases) want(id int64) {
	if _, known := l.ttls.Load(id); known {
		return
	}
	l.mu.Lock()
	_, queued := l.queued[id]
	if !queued {
		l.queued[id] = struct{}{}
		l.order = append(l.order, id)
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// head returns the lease to ask for next.
func (l *Leases) head() (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.order) == 0 {
		return 0, false
	}
	return l.order[0], true
}

// done takes a lease off the queue, or puts it at the end when it has to be asked for again.
func (l *Leases) done(id int64, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order = l.order[1:]
	if again {
		l.order = append(l.order, id)
		return
	}
	delete(l.queued, id)
}

// run asks, one lease at a time, until ctx ends.
func (l *Leases) run(ctx context.Context) {
	for {
		pause := l.timing.LeaseGap
		if id, ok := l.head(); ok {
			if !l.ask(ctx, id) {
				pause = l.timing.LeaseRetry
			}
		} else {
			select {
			case <-ctx.Done():
				return
			case <-l.wake:
			}
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// ask asks for one lease and returns whether etcd answered.
func (l *Leases) ask(ctx context.Context, id int64) bool {
	client, err := l.conn.get(ctx)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, l.timing.Call)
	defer cancel()
	resp, err := client.TimeToLive(ctx, clientv3.LeaseID(id))
	if err != nil {
		l.done(id, true)
		return false
	}
	// A lease that is gone has TTL -1, and its keys are gone as well or will be in a moment.
	if resp.GrantedTTL > 0 {
		l.ttls.Store(id, uint32(min(resp.GrantedTTL, math.MaxUint32)))
	}
	l.done(id, false)
	return true
}
