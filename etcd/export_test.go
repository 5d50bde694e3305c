package etcd

import (
	"testing"
	"time"

	"github.com/trident-dns/trident/etcd/mirror"
)

// StaleSoon makes copies stale within a fraction of a second, for mirrors that are opened during the test.
func StaleSoon(t *testing.T) {
	old := timing
	t.Cleanup(func() { timing = old })
	timing = mirror.Timing{
		Call: time.Second, Progress: 50 * time.Millisecond, Silence: 200 * time.Millisecond,
		StaleAfter: 300 * time.Millisecond, BackoffMin: 10 * time.Millisecond, BackoffMax: 50 * time.Millisecond,
	}
}

// Confirmed is the revision up to which the copies of a zone that are open are known to be right.
func Confirmed(zone string) int64 {
	live.mu.Lock()
	defer live.mu.Unlock()
	for s := range live.sources {
		if s.zone.Name == zone {
			return s.status().Position.Revision
		}
	}
	return 0
}
