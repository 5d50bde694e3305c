package etcd

import (
	"sync"
	"time"

	"github.com/coredns/coredns/plugin"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trident-dns/trident/etcd/mirror"
)

// live are the sources that are open. Their gauges are read when somebody asks for metrics.
var live = &collector{sources: map[*source]struct{}{}, keepers: map[*keeper]string{}, stubs: map[*stubs]struct{}{}}

func init() { prometheus.MustRegister(live) }

type collector struct {
	mu      sync.Mutex // guards the following
	sources map[*source]struct{}
	keepers map[*keeper]string // with their files
	stubs   map[*stubs]struct{}
}

func (c *collector) addStubs(s *stubs) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stubs[s] = struct{}{}
}

func (c *collector) removeStubs(s *stubs) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.stubs, s)
}

func (c *collector) addKeeper(k *keeper, file string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepers[k] = file
}

func (c *collector) removeKeeper(k *keeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.keepers, k)
}

func (c *collector) add(s *source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources[s] = struct{}{}
}

func (c *collector) remove(s *source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sources, s)
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(plugin.Namespace, pluginName, name), help,
		append([]string{"zone", "path"}, labels...), nil)
}

var (
	revisionDesc = gauge("revision", "Revision of etcd that the copy of the zone is known to be equal to.")
	lagDesc      = gauge("lag_seconds", "Time since etcd last confirmed the copy of the zone.")
	stateDesc    = gauge("state", "1 for the state that the copy of the zone is in, 0 for the others.", "state")
	recordsDesc  = gauge("records", "Number of keys of the zone that are served.")
	invalidDesc  = gauge("invalid_keys", "Number of keys of the zone that cannot be served, by reason.", "reason")
	snapshotDesc = prometheus.NewDesc(prometheus.BuildFQName(plugin.Namespace, pluginName, "snapshot_age_seconds"),
		"Time since the snapshot on disk was written. It is not written while nothing changes.", []string{"file"}, nil)
	stubZonesDesc = prometheus.NewDesc(prometheus.BuildFQName(plugin.Namespace, pluginName, "stub_zones"),
		"Number of stub zones.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{revisionDesc, lagDesc, stateDesc, recordsDesc, invalidDesc, snapshotDesc, stubZonesDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Of two sources with the same labels, for the same zone in two clusters, it
// takes the one that is worse off.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	type labels struct{ zone, path string }
	c.mu.Lock()
	worst := make(map[labels]*source, len(c.sources))
	for s := range c.sources {
		l := labels{s.zone.Name, string(s.prefix)}
		if w, ok := worst[l]; !ok || s.status().State < w.status().State {
			worst[l] = s
		}
	}
	written := make(map[string]time.Time, len(c.keepers))
	for k, file := range c.keepers {
		if t := k.Written(); t.After(written[file]) {
			written[file] = t
		}
	}
	stubZones := 0
	for s := range c.stubs {
		stubZones += s.len()
	}
	c.mu.Unlock()
	ch <- prometheus.MustNewConstMetric(stubZonesDesc, prometheus.GaugeValue, float64(stubZones))
	for file, t := range written {
		ch <- prometheus.MustNewConstMetric(snapshotDesc, prometheus.GaugeValue, time.Since(t).Seconds(), file)
	}
	for l, s := range worst {
		s.collect(ch, l.zone, l.path)
	}
}

func (s *source) collect(ch chan<- prometheus.Metric, zone, path string) {
	send := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{zone, path}, labels...)...)
	}
	snap, status := s.index.Snapshot(), s.status()
	send(revisionDesc, float64(status.Position.Revision))
	send(lagDesc, status.Lag(time.Now()).Seconds())
	for _, state := range []mirror.State{mirror.Starting, mirror.Stale, mirror.Fresh} {
		value := 0.0
		if state == status.State {
			value = 1
		}
		send(stateDesc, value, state.String())
	}
	send(recordsDesc, float64(snap.Records()))
	invalid := snap.Invalid()
	for _, reason := range skydns.Reasons {
		send(invalidDesc, float64(invalid[reason]), string(reason))
	}
}
