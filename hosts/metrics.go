package hosts

import (
	"github.com/coredns/coredns/plugin"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The label hostsfile is the path or the URL of a source, or inline for the lines of a Corefile.
var (
	entries       = gauge("entries", "Entries loaded from a file, a URL or the Corefile.")
	reloadTime    = promauto.NewGauge(gaugeOpts("reload_timestamp_seconds", "When a hosts file was last loaded."))
	up            = gauge("source_up", "Whether the last attempt to read a source went well (1) or not (0).")
	lastSuccess   = gauge("source_last_success_timestamp_seconds", "When a source was last read well.")
	lastAttempt   = gauge("source_last_attempt_timestamp_seconds", "When it was last tried to read a source.")
	loadDuration  = gauge("source_load_duration_seconds", "How long the last load of a source took.")
	tableSize     = gauge("source_size_bytes", "Memory that the entries of a source take.")
	loadFailures  = counter("source_failures_total", "Attempts to read a source that failed.", "hostsfile")
	copyFailures  = counter("copy_failures_total", "Copies of a URL that could not be read or written.", "hostsfile")
	parseErrors   = counter("parse_errors_total", "What could not be used in the text of a source.", "hostsfile", "reason")
	listHits      = counter("list_hits_total", "Questions for names in a list.", "server", "list", "action")
	limited       = counter("limited_total", "Answers cut short by a limit.", "limit")
	sourceMetrics = []*prometheus.GaugeVec{entries, up, lastSuccess, lastAttempt, loadDuration, tableSize}
)

func gaugeOpts(name, help string) prometheus.GaugeOpts {
	return prometheus.GaugeOpts{Namespace: plugin.Namespace, Subsystem: pluginName, Name: name, Help: help}
}

func gauge(name, help string) *prometheus.GaugeVec {
	return promauto.NewGaugeVec(gaugeOpts(name, help), []string{"hostsfile"})
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.NewCounterVec(prometheus.CounterOpts(gaugeOpts(name, help)), labels)
}
