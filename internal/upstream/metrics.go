package upstream

import (
	"github.com/coredns/coredns/plugin"

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

	limited = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: "proxy",
		Name:      "limited_total",
		Help:      "Counter of the questions that were not sent to an upstream because of one of its limits.",
	}, []string{"proxy_name", "to", "limit"})
)

// vectors are what a resolver that is gone takes its series out of.
var vectors = []interface {
	DeletePartialMatch(labels prometheus.Labels) int
}{requestDuration, healthcheckFailures, connCacheHits, connCacheMisses, failedAttempts, mismatchedReplies, retransmissions,
	limited}

// The following are read from the resolvers when somebody asks for them.
var (
	stateDesc = describe(prometheus.Opts{
		Name: "upstream_state",
		Help: "Whether the upstream is in this state (1) or not (0).",
	}, "state")

	inFlightDesc = describe(prometheus.Opts{
		Name: "upstream_in_flight",
		Help: "Number of questions that are under way to the upstream.",
	})

	replyDurationDesc = describe(prometheus.Opts{
		Name: "reply_duration_seconds",
		Help: "Histogram of the time from sending a question to the reply, without waiting for a connection.",
	})
)

func describe(o prometheus.Opts, more ...string) *prometheus.Desc {
	labels := append([]string{"proxy_name", "to"}, more...)
	return prometheus.NewDesc(prometheus.BuildFQName(plugin.Namespace, "proxy", o.Name), o.Help, labels, nil)
}
