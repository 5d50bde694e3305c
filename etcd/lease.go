package etcd

import "github.com/trident-dns/trident/plugin/skydns"

// leaseBounds are what the TTL of a lease is kept within, in seconds.
type leaseBounds struct{ min, max uint32 }

var defaultLeases = leaseBounds{min: 30, max: 86400}

// ttl is the TTL of a record that hangs on a lease of which granted tells the TTL. Without knowing that it is the lower
// bound, which is what the shortest lease gives. own tells that ttl is the record's, which is then an upper bound.
func (b leaseBounds) ttl(granted uint32, known bool, ttl uint32, own bool) uint32 {
	lease := b.min
	if known {
		lease = max(min(granted, b.max), b.min)
	}
	if own {
		return min(ttl, lease)
	}
	return lease
}

// leaseTTL is how long a lease was granted for, in seconds.
type leaseTTL func(id int64) (uint32, bool)

func (b leaseBounds) recordTTL(granted leaseTTL) func(*skydns.Record, uint32, bool) uint32 {
	return func(r *skydns.Record, ttl uint32, own bool) uint32 {
		seconds, known := granted(r.Lease())
		return b.ttl(seconds, known, ttl, own)
	}
}
