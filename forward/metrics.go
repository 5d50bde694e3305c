package forward

import (
	"github.com/coredns/coredns/plugin"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// What concerns one upstream is counted by internal/upstream.
var (
	allDownCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "healthcheck_broken_total",
		Help:      "Counter of the number of complete failures of the healthchecks.",
	})

	maxConcurrentRejectCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "max_concurrent_rejects_total",
		Help:      "Counter of the number of queries rejected because the concurrent queries were at maximum.",
	})

	sharedCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "shared_total",
		Help:      "Counter of the number of questions answered with the reply to the same question of somebody else.",
	})

	hedgeCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "hedges_total",
		Help:      "Counter of the number of questions sent to a second upstream because the reply was late.",
	})

	hedgeWonCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "hedges_won_total",
		Help:      "Counter of the number of hedges whose reply was the first good one.",
	})

	movedCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "moved_total",
		Help:      "Counter of the number of questions sent to another upstream because theirs has gone silent.",
	})

	exploredCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "explored_total",
		Help:      "Counter of the number of copies of questions sent to find out how fast an upstream is.",
	})

	limitRejectCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "limit_rejects_total",
		Help:      "Counter of the number of queries rejected because all upstreams were at a limit.",
	})

	waitingRejectCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "unresolved_rejects_total",
		Help:      "Counter of the number of queries that could not wait for the first look-up of an upstream.",
	})

	fileFailureCount = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "file_failures_total",
		Help:      "Counter of the number of times that upstream files could not be read or used.",
	})

	// The names are those in the Corefile, so their number is bounded.
	lookupFailureCount = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: pluginName,
		Name:      "lookup_failures_total",
		Help:      "Counter of the number of failed look-ups of host names that are upstreams.",
	}, []string{"host"})
)
