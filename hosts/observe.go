package hosts

import (
	"sync"
	"time"

	clog "github.com/coredns/coredns/plugin/pkg/log"
	"github.com/trident-dns/trident/hosts/internal/hostsfile"
	"github.com/trident-dns/trident/hosts/internal/source"

	"github.com/prometheus/client_golang/prometheus"
)

var log = clog.NewWithPlugin(pluginName)

// observer turns what becomes of one source into metrics and log lines.
type observer struct {
	names map[string]bool // parts that were heard of; true when the last attempt failed
}

// observed counts the sources that follow something, by its name. After a change of the Corefile the same file may
// for a moment belong to the source of the old configuration and to that of the new one.
var observed = struct {
	sync.Mutex
	sources map[string]int
}{sources: make(map[string]int)}

func newObserver() *observer { return &observer{names: make(map[string]bool)} }

// attempted notes an attempt to read name.
func (o *observer) attempted(name string, ok bool) {
	if _, known := o.names[name]; !known {
		observed.Lock()
		observed.sources[name]++
		observed.Unlock()
	}
	o.names[name] = !ok
	lastAttempt.WithLabelValues(name).SetToCurrentTime()
	if !ok {
		up.WithLabelValues(name).Set(0)
		return
	}
	up.WithLabelValues(name).Set(1)
	lastSuccess.WithLabelValues(name).SetToCurrentTime()
}

// Loaded implements source.Observer.
func (o *observer) Loaded(p source.Part, took time.Duration) {
	o.attempted(p.Name, true)
	entries.WithLabelValues(p.Name).Set(float64(p.Entries()))
	tableSize.WithLabelValues(p.Name).Set(float64(p.Size()))
	loadDuration.WithLabelValues(p.Name).Set(took.Seconds())
	if p.Hosts != nil {
		reloadTime.SetToCurrentTime()
	}
	log.Infof("Loaded %d entries from %s in %v", p.Entries(), p.Name, took.Round(time.Millisecond))
}

// Unchanged implements source.Observer.
func (o *observer) Unchanged(name string) {
	if o.names[name] {
		log.Infof("%s can be read again, and is what was loaded before", name)
	}
	o.attempted(name, true)
}

// PollOnly implements source.Observer.
func (*observer) PollOnly(pattern string, err error) {
	log.Warningf("The system does not tell of changes of %s, they are found by polling: %v", pattern, err)
}

// Problems implements source.Observer.
func (*observer) Problems(name string, report hostsfile.Report) {
	for _, reason := range hostsfile.Reasons() {
		if n := report.Unusable[reason]; n > 0 {
			parseErrors.WithLabelValues(name, reason.String()).Add(float64(n))
		}
	}
	for _, p := range report.First {
		log.Warningf("%s, %s", name, p)
	}
	if rest := report.Problems() - len(report.First); rest > 0 {
		log.Warningf("%s: %d more that cannot be used", name, rest)
	}
}

// Failed implements source.Observer.
func (o *observer) Failed(name string, err error, kept, repeated bool) {
	o.attempted(name, false)
	loadFailures.WithLabelValues(name).Inc()
	switch {
	case repeated:
	case kept:
		log.Warningf("Keeping what was loaded from %s before: %v", name, err)
	default:
		log.Warningf("Nothing loaded from %s: %v", name, err)
	}
}

// Detached implements source.Observer.
func (*observer) Detached(name string) {
	log.Warningf("%s was replaced outside of the mount that shows it: changes are not seen until it is mounted again; "+
		"mount its directory instead", name)
}

// NotKept implements source.Observer.
func (*observer) NotKept(name string, err error) {
	copyFailures.WithLabelValues(name).Inc()
	log.Warningf("Copy of %s on disk: %v", name, err)
}

// Gone implements source.Observer.
func (o *observer) Gone(name string) {
	if _, known := o.names[name]; !known {
		return
	}
	delete(o.names, name)
	observed.Lock()
	defer observed.Unlock()
	if observed.sources[name]--; observed.sources[name] > 0 {
		return
	}
	delete(observed.sources, name)
	labels := prometheus.Labels{"hostsfile": name}
	for _, m := range sourceMetrics {
		m.Delete(labels)
	}
	loadFailures.Delete(labels)
	copyFailures.Delete(labels)
	parseErrors.DeletePartialMatch(labels)
}
