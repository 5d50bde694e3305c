package etcd

import (
	"time"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/etcd/mirror"
)

// trust is how far what is known of a zone may be told.
type trust uint8

const (
	starting trust = iota // nothing is known yet
	fresh                 // etcd has confirmed it lately
	stale                 // it may have changed since
	expired               // it is older than max_stale
)

// staleTTL caps the TTL of what may have changed, in seconds: RFC 8767, section 4.
const staleTTL = 30

func (t trust) String() string {
	return [...]string{"starting", "fresh", "stale", "expired"}[t]
}

// reason explains a SERVFAIL to people, code to programs: RFC 8914.
func (t trust) reason() string {
	if t == starting {
		return "nothing loaded from etcd yet"
	}
	return "etcd is away for longer than max_stale"
}

func (t trust) code() uint16 {
	if t == starting {
		return dns.ExtendedErrorCodeNotReady
	}
	return dns.ExtendedErrorCodeNoReachableAuthority
}

// staleCode is the extended error of an answer that may have changed.
func staleCode(rcode int) uint16 {
	if rcode == dns.RcodeNameError {
		return dns.ExtendedErrorCodeStaleNXDOMAINAnswer
	}
	return dns.ExtendedErrorCodeStaleAnswer
}

// judge says how far to trust a copy. loaded is when what is known was current if etcd never confirmed it: the time of a
// snapshot on disk. maxStale 0 is no limit.
func judge(ready bool, st mirror.Status, loaded, now time.Time, maxStale time.Duration) trust {
	switch {
	case !ready:
		return starting
	case st.State == mirror.Fresh:
		return fresh
	case maxStale == 0:
		return stale
	}
	since := st.Contact
	if since.IsZero() {
		since = loaded
	}
	if now.Sub(since) > maxStale {
		return expired
	}
	return stale
}
