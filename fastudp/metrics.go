package fastudp

import (
	"github.com/coredns/coredns/plugin"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

const subsystem = "fastudp"

var (
	socketsGauge = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: plugin.Namespace,
		Subsystem: subsystem,
		Name:      "sockets",
		Help:      "Sockets that fastudp serves the listener with; 0 while CoreDNS's own listener serves it.",
	}, []string{"server"})

	datagramsTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: subsystem,
		Name:      "datagrams_total",
		Help:      "Counter of datagrams received and sent.",
	}, []string{"server", "direction"})

	batchesTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: subsystem,
		Name:      "batches_total",
		Help:      "Counter of system calls that received or sent datagrams.",
	}, []string{"server", "direction"})

	droppedTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Namespace: plugin.Namespace,
		Subsystem: subsystem,
		Name:      "dropped_total",
		Help:      "Counter of questions not answered because too many were in progress, and of replies that were not sent.",
	}, []string{"server", "reason"})
)

// counters are the series of one listener, looked up once.
type counters struct {
	sockets                      prometheus.Gauge
	received, sent               prometheus.Counter
	receivedBatches, sentBatches prometheus.Counter
	busy, unsent                 prometheus.Counter
}

func newCounters(server string) *counters {
	return &counters{
		sockets:         socketsGauge.WithLabelValues(server),
		received:        datagramsTotal.WithLabelValues(server, "received"),
		sent:            datagramsTotal.WithLabelValues(server, "sent"),
		receivedBatches: batchesTotal.WithLabelValues(server, "received"),
		sentBatches:     batchesTotal.WithLabelValues(server, "sent"),
		busy:            droppedTotal.WithLabelValues(server, "busy"),
		unsent:          droppedTotal.WithLabelValues(server, "unsent"),
	}
}
