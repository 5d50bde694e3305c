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
