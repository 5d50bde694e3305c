package upstream

import (
	"sync/atomic"

	"github.com/coredns/coredns/plugin"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The first four are those of the in-tree plugin/pkg/proxy, which dashboards know.
var (
	requestDuration = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Namespace:                   plugin.Namespace,
		Subsystem:                   "proxy",
		Name:                        "request_duration_seconds",
		Buckets:                     plugin.TimeBuckets,
		NativeHistogramBucketFactor: plugin.NativeHistogramBucketFactor,
		Help:                        "Histogram of the time each request took.",
	}, []string{"proxy_name", "to", "rcode"})

	healthcheckFailures = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: "proxy",
		Name:      "healthcheck_failures_total",
		Help:      "Counter of the number of failed healthchecks.",
	}, []string{"proxy_name", "to"})

	connCacheHits = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: "proxy",
		Name:      "conn_cache_hits_total",
		Help:      "Counter of connection cache hits per upstream and protocol.",
	}, []string{"proxy_name", "to", "proto"})

	connCacheMisses = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: "proxy",
		Name:      "conn_cache_misses_total",
		Help:      "Counter of connection cache misses per upstream and protocol.",
	}, []string{"proxy_name", "to", "proto"})

	failedAttempts = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: "proxy",
		Name:      "failed_attempts_total",
		Help:      "Counter of the attempts to ask an upstream that brought no usable reply, by reason.",
	}, []string{"proxy_name", "to", "reason"})

	mismatchedReplies = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: "proxy",
		Name:      "mismatched_replies_total",
		Help:      "Counter of replies dropped because they belong to no question in flight.",
	}, []string{"proxy_name", "to", "proto"})

	retransmissions = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: "proxy",
		Name:      "retransmissions_total",
		Help:      "Counter of UDP questions sent again because the reply was late.",
	}, []string{"proxy_name", "to"})
)

var limited = promauto.NewCounterVec(prometheus.CounterOpts{
	Namespace: plugin.Namespace,
	Subsystem: "proxy",
	Name:      "limited_total",
	Help:      "Counter of the questions that were not sent to an upstream because of one of its limits.",
}, []string{"proxy_name", "to", "limit"})

// meters are the metrics of one resolver, looked up once: a label look-up costs more than the count.
type meters struct {
	name, to     string
	probeFailure prometheus.Counter
	resent       prometheus.Counter
	// durations holds the observer of each rcode that has occurred. Only assigned rcodes have an entry of their own: the
	// upstream must not choose label values.
	durations [maxRcode + 1]atomic.Pointer[prometheus.Observer]
}

// maxRcode is the highest rcode with a name (BADCOOKIE). Everything above shares otherRcode.
const (
	maxRcode   = dns.RcodeBadCookie
	otherRcode = "other"
)

func newMeters(name, to string) *meters {
	return &meters{
		name:         name,
		to:           to,
		probeFailure: healthcheckFailures.WithLabelValues(name, to),
		resent:       retransmissions.WithLabelValues(name, to),
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
		requestDuration.WithLabelValues(m.name, m.to, otherRcode).Observe(seconds)
		return
	}
	slot := &m.durations[rcode]
	o := slot.Load()
	if o == nil {
		fresh := requestDuration.WithLabelValues(m.name, m.to, label)
		o = &fresh
		slot.Store(o)
	}
	(*o).Observe(seconds)
}

// limited counts a question that err kept from being sent.
func (m *meters) limited(err error) {
	limit := "in_flight"
	if err == errRate {
		limit = "rate"
	}
	limited.WithLabelValues(m.name, m.to, limit).Inc()
}

func (m *meters) failed(err error) {
	failedAttempts.WithLabelValues(m.name, m.to, Reason(err)).Inc()
}
