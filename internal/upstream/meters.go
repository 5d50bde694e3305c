package upstream

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
)

// meters are the series of one pair of labels, looked up once: a label look-up costs more than the count. Resolvers with
// the same name and address, which differ in their settings, share them, also across a reload that changes those. When the
// last one is closed the series are deleted: addresses come and go, and a process may run for a year.
type meters struct {
	name, to     string
	probeFailure prometheus.Counter
	resent       prometheus.Counter
	// durations holds the observer of each rcode that has occurred. Only assigned rcodes have an entry of their own: the
	// upstream must not choose label values.
	durations [maxRcode + 2]atomic.Pointer[prometheus.Observer]
	failures  [len(reasons) + 1]atomic.Pointer[prometheus.Counter]
	limits    [2]atomic.Pointer[prometheus.Counter]

	users map[*health]bool // guarded by metering; empty: the series are gone for good
	past  totals           // of those that are closed; guarded by metering
}

// maxRcode is the highest rcode with a name (BADCOOKIE). Everything above shares otherRcode.
const (
	maxRcode   = dns.RcodeBadCookie
	otherRcode = "other"
)

type labels struct{ name, to string }

var (
	metering sync.Mutex // guards the following; held while series come and go
	metered  = make(map[labels]*meters)
)

// newMeters returns the meters for a resolver, which gives them back with release.
func newMeters(name, to string, h *health) *meters {
	metering.Lock()
	defer metering.Unlock()
	m := metered[labels{name, to}]
	if m == nil {
		m = &meters{
			name:         name,
			to:           to,
			probeFailure: healthcheckFailures.WithLabelValues(name, to),
			resent:       retransmissions.WithLabelValues(name, to),
			users:        make(map[*health]bool),
		}
		metered[labels{name, to}] = m
	}
	m.users[h] = true
	return m
}

// release takes h out of those who count. The last one takes the series along.
func (m *meters) release(h *health) {
	metering.Lock()
	defer metering.Unlock()
	if !m.users[h] {
		return
	}
	delete(m.users, h)
	m.past.add(&h.replies)
	if len(m.users) > 0 {
		return
	}
	delete(metered, labels{m.name, m.to})
	for _, v := range vectors {
		v.DeletePartialMatch(prometheus.Labels{"proxy_name": m.name, "to": m.to})
	}
}

// cache returns the counters of reused and of new connections for proto.
func (m *meters) cache(proto string) (hits, misses prometheus.Counter) {
	return connCacheHits.WithLabelValues(m.name, m.to, proto), connCacheMisses.WithLabelValues(m.name, m.to, proto)
}

func (m *meters) mismatches(proto string) prometheus.Counter {
	return mismatchedReplies.WithLabelValues(m.name, m.to, proto)
}

func (m *meters) observe(rcode int, seconds float64) {
	label, known := dns.RcodeToString[rcode]
	if !known || rcode > maxRcode {
		label, rcode = otherRcode, maxRcode+1
	}
	o := series(m, &m.durations[rcode], func() prometheus.Observer {
		return requestDuration.WithLabelValues(m.name, m.to, label)
	})
	if o != nil {
		(*o).Observe(seconds)
	}
}

// failed counts an attempt that brought no reply.
func (m *meters) failed(err error) {
	reason, i := Reason(err), len(reasons)
	for j, r := range reasons {
		if r.reason == reason {
			i = j
		}
	}
	count(series(m, &m.failures[i], func() prometheus.Counter {
		return failedAttempts.WithLabelValues(m.name, m.to, reason)
	}))
}

// limited counts a question that err kept from being sent.
func (m *meters) limited(err error) {
	label, i := "in_flight", 0
	if errors.Is(err, errRate) {
		label, i = "rate", 1
	}
	count(series(m, &m.limits[i], func() prometheus.Counter { return limited.WithLabelValues(m.name, m.to, label) }))
}

func count(c *prometheus.Counter) {
	if c != nil {
		(*c).Inc()
	}
}

// series returns what is in slot, made by find the first time; nil when the series of m are gone, so that a question that
// comes after the end does not bring them back.
func series[T any](m *meters, slot *atomic.Pointer[T], find func() T) *T {
	if s := slot.Load(); s != nil {
		return s
	}
	metering.Lock()
	defer metering.Unlock()
	if len(m.users) == 0 {
		return nil
	}
	found := find()
	slot.Store(&found)
	return &found
}
