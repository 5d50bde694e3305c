package monitoring

import (
	"regexp"
	"strings"
	"testing"

	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/trident-dns/trident/etcd"
	_ "github.com/trident-dns/trident/fastudp"
	_ "github.com/trident-dns/trident/forward"
	_ "github.com/trident-dns/trident/hosts"
	"github.com/trident-dns/trident/internal/buildinfo"

	"github.com/prometheus/client_golang/prometheus"
)

func init() { buildinfo.Register("test") }

// description is the text of a prometheus.Desc, which shows what it holds in no other way.
var description = regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)

// labelled says what a metric is called and which labels it has.
type labelled map[string]map[string]bool

// registered are the metrics that the binary can have, also those that have no series yet, with their labels.
func registered(t *testing.T) labelled {
	t.Helper()
	registry, ok := prometheus.DefaultRegisterer.(*prometheus.Registry)
	if !ok {
		t.Fatalf("the default registry is a %T", prometheus.DefaultRegisterer)
	}
	descs := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(descs)
		close(descs)
	}()
	all := make(labelled)
	for d := range descs {
		m := description.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("%s is not in the known form", d)
		}
		labels := make(map[string]bool)
		for _, l := range strings.Split(m[2]+","+m[3], ",") {
			name, _, _ := strings.Cut(l, "=")
			labels[name] = true
		}
		all[m[1]] = labels
	}
	if len(all) < 50 || !all["coredns_proxy_failed_attempts_total"]["reason"] || !all["coredns_etcd_state"]["zone"] {
		t.Fatalf("%d metrics, and not those that are known to be there: %v", len(all), all)
	}
	return all
}

// of finds the labels of a metric as PromQL names it: a histogram is asked for by three names.
func (l labelled) of(name string) (labels map[string]bool, metric string, ok bool) {
	if labels, ok = l[name]; ok {
		return labels, name, true
	}
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if base, isPart := strings.CutSuffix(name, suffix); isPart && l[base] != nil {
			return l[base], base, true
		}
	}
	return nil, "", false
}
