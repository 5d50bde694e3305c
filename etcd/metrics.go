package etcd

import (
	"github.com/coredns/coredns/plugin"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace, Subsystem: pluginName, Name: name, Help: help,
	}, labels)
}

var (
	failures = counter("failures_total",
		"Counter of questions answered SERVFAIL for want of data, by zone and state of the zone.", "server", "zone", "state")
	staleAnswers = counter("stale_answers_total",
		"Counter of answers made from data that etcd had not confirmed lately, by zone.", "server", "zone")
	walksCut = counter("walks_cut_total",
		"Counter of answers that a bound on the records looked at, or on the names looked up, cut short, by zone.",
		"server", "zone")
	relayed = counter("relayed_questions_total",
		"Counter of questions for other name servers, by what they are the servers of (stub or nameservers), and result.",
		"server", "kind", "result")
	transfers = counter("transfers_total",
		"Counter of zone transfers, by zone and kind: axfr, ixfr, or current for a secondary that has all.", "zone", "kind")
	notifies = counter("notifies_total",
		"Counter of changes that secondaries were told of, by zone and whether all of them took notice.", "zone", "result")
	relists = counter("relists_total",
		"Counter of full lists after the first, by reason.", "reason")
	auditRepairs = promauto.NewCounter(prometheus.CounterOpts{
		Namespace: plugin.Namespace, Subsystem: pluginName, Name: "audit_repairs_total",
		Help: "Counter of keys that an audit found to differ from etcd.",
	})
)
