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

// Want queues a question about a lease, unless its TTL is known or it is queued already. Feeds want those of all keys that
// they learn of; whoever fills a sink otherwise must do so himself.
func (l *Leases) Want(id int64) {
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

// next takes the head off the queue.
func (l *Leases) next() {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.queued, l.order[0])
	l.order = l.order[1:]
}

// run asks, one lease at a time, until ctx ends. Now and then it forgets leases that have ended.
func (l *Leases) run(ctx context.Context) {
	sweep := time.NewTicker(l.timing.LeaseSweep)
	defer sweep.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	var due <-chan time.Time // when the next lease may be asked for; nil: there is none to ask for
	for {
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			l.sweep(ctx)
		case <-l.wake:
			if due == nil {
				due = pause.C
				pause.Reset(0)
			}
		case <-due:
			id, ok := l.head()
			if !ok {
				due = nil
				continue
			}
			if err := l.ask(ctx, id); unavailable(err) {
				pause.Reset(l.timing.LeaseRetry)
				continue
			}
			// One that may not be asked for is asked for again when one of its keys changes.
			l.next()
			pause.Reset(l.timing.LeaseGap)
		}
	}
}

// ask asks for one lease.
func (l *Leases) ask(ctx context.Context, id int64) error {
	client, err := l.conn.get(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.timing.Call)
	defer cancel()
	resp, err := client.TimeToLive(ctx, clientv3.LeaseID(id))
	if err != nil {
		return err
	}
	// A lease that is gone has TTL -1, and its keys are gone as well or will be in a moment.
	if resp.GrantedTTL > 0 {
		l.ttls.Store(id, uint32(min(resp.GrantedTTL, math.MaxUint32)))
	}
	return nil
}

// sweep forgets leases that etcd does not know any more. When it cannot be asked they wait for the next time.
func (l *Leases) sweep(ctx context.Context) {
	// Those that are learned meanwhile may be missing from the answer.
	ended := map[int64]struct{}{}
	for id := range l.ttls.Range {
		ended[id.(int64)] = struct{}{}
	}
	if len(ended) == 0 {
		return
	}
	client, err := l.conn.get(ctx)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.timing.Call)
	defer cancel()
	resp, err := client.Leases(ctx)
	if err != nil {
		return
	}
	for _, lease := range resp.Leases {
		delete(ended, int64(lease.ID))
	}
	for id := range ended {
		l.ttls.Delete(id)
	}
}
