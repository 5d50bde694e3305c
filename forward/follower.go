package forward

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How often a host name is looked up. The TTL decides within bounds, unless lookup_interval gives others; a resolver that
// does not answer is asked more and more seldom.
const (
	minRefresh   = 5 * time.Second
	maxRefresh   = 5 * time.Minute
	minRetry     = 500 * time.Millisecond
	maxRetry     = 30 * time.Second
	lookupBudget = 5 * time.Second // for one look-up, all resolvers together
)

// follower knows the addresses of one host name, from the first look-up that worked to the last. It runs one goroutine
// from openFollower to Close.
type follower struct {
	host   string
	lookup lookup
	pace   pace
	found  atomic.Pointer[[]netip.Addr] // nil until there was an answer
	first  atomic.Bool                  // a look-up has ended, well or not

	mu        sync.Mutex // guards the following
	listeners map[*roster]func()

	cancel context.CancelFunc
	ended  sync.WaitGroup
}

func openFollower(host string, l lookup, every pace) *follower {
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{host: host, lookup: l, pace: every, listeners: make(map[*roster]func()), cancel: cancel}
	f.ended.Go(func() { f.run(ctx) })
	return f
}

// Close ends the look-ups and waits for the one under way, which gives up at once. The addresses stay known.
func (f *follower) Close() error {
	f.cancel()
	f.ended.Wait()
	return nil
}

// addrs returns the addresses that were found last. The caller must not change them.
func (f *follower) addrs() []netip.Addr {
	if found := f.found.Load(); found != nil {
		return *found
	}
	return nil
}

// tried tells whether a look-up has ended, well or not.
func (f *follower) tried() bool { return f.first.Load() }

// subscribe has changed called after each look-up that brought something new, and after the first in any case. It runs
// on the goroutine of the follower.
func (f *follower) subscribe(r *roster, changed func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners[r] = changed
}

func (f *follower) unsubscribe(r *roster) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listeners, r)
}

func (f *follower) tell() {
	f.mu.Lock()
	listeners := make([]func(), 0, len(f.listeners))
	for _, changed := range f.listeners {
		listeners = append(listeners, changed)
	}
	f.mu.Unlock()
	for _, changed := range listeners {
		changed()
	}
}

func (f *follower) run(ctx context.Context) {
	for failures := 0; ; {
		ttl, err := f.refresh(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			if failures > 0 {
				log.Infof("Upstream %s has been looked up again: %v", f.host, f.addrs())
			}
			failures = 0
		} else {
			if failures == 0 {
				log.Warningf("Looking up upstream %s failed, going on with %v: %v", f.host, f.addrs(), err)
			}
			lookupFailureCount.WithLabelValues(f.host).Inc()
			failures++
		}
		timer := time.NewTimer(f.pace.pause(ttl, failures, rand.Float64()))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// refresh looks the name up once and tells the listeners when that made a difference. A failed look-up leaves the
// addresses as they are.
func (f *follower) refresh(ctx context.Context) (ttl time.Duration, err error) {
	bounded, cancel := context.WithTimeout(ctx, lookupBudget)
	found, ttl, err := f.lookup(bounded, f.host)
	cancel()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	changed := false
	if err == nil {
		if merged := merge(f.addrs(), found); !slices.Equal(merged, f.addrs()) {
			f.found.Store(&merged)
			changed = true
		}
	}
	// Whoever sees that the name has been tried must also see what was found.
	if f.first.CompareAndSwap(false, true) || changed {
		f.tell()
	}
	return ttl, err
}

// merge returns found in an order that does not change with every answer: addresses known before first, as they were,
// then the new ones. A resolver that rotates its answers must not make policy sequential rotate.
func merge(known, found []netip.Addr) []netip.Addr {
	merged := make([]netip.Addr, 0, len(found))
	for _, a := range known {
		if slices.Contains(found, a) {
			merged = append(merged, a)
		}
	}
	for _, a := range found {
		if !slices.Contains(merged, a) {
			merged = append(merged, a)
		}
	}
	return merged
}

// pace bounds how often a host name is looked up.
type pace struct{ least, most time.Duration }

// pause is how long to wait before the next look-up: the TTL within bounds after a good one, a doubling time after
// failures in a row. chance, from 0 to 1, takes off up to a fifth, so that the names of a configuration do not stay in
// step.
func (p pace) pause(ttl time.Duration, failures int, chance float64) time.Duration {
	wait := min(max(ttl, p.least), p.most)
	if failures > 0 {
		wait = maxRetry
		if doublings := failures - 1; doublings < 6 {
			wait = min(minRetry<<doublings, maxRetry)
		}
	}
	return wait - time.Duration(chance*float64(wait)/5)
}
