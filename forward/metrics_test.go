package forward

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
)

// counted sums the counters of a name whose labels have these values.
func counted(t *testing.T, name string, labels map[string]string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			if hasLabels(m, labels) {
				sum += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

func hasLabels(m *dto.Metric, want map[string]string) bool {
	found := 0
	for _, l := range m.GetLabel() {
		if value, ok := want[l.GetName()]; ok && value == l.GetValue() {
			found++
		}
	}
	return found == len(want)
}

// E11: attempts that failed could not be seen.
func TestMetricsCountWhatHappens(t *testing.T) {
	silent := dnstest.New(t, dnstest.Drop)
	names := dnstest.New(t, dnstest.Rcode(dns.RcodeRefused))
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	allDown := counted(t, "coredns_forward_healthcheck_broken_total", nil)
	s := start(t, fmt.Sprintf(`.:0 {
		forward dead.example %s {
			max_connect_attempts 1
			%s
		}
		forward up.example %s
		forward . metrics.example {
			resolver %s
		}
	}`, silent.Addr(), quick, up.Addr(), names.Addr()))
	wantA(t, s.Ask(t, "up.example.", dns.TypeA), "192.0.2.1")
	wantRcode(t, s.Ask(t, "dead.example.", dns.TypeA), dns.RcodeServerFailure)
	wantRcode(t, s.Ask(t, "else.example.", dns.TypeA), dns.RcodeServerFailure)
	for _, tt := range []struct {
		name   string
		labels map[string]string
	}{
		{"coredns_proxy_request_duration_seconds", map[string]string{"to": up.Addr().String(), "rcode": "NOERROR"}},
		{"coredns_proxy_failed_attempts_total", map[string]string{"to": silent.Addr().String(), "reason": "timeout"}},
		{"coredns_proxy_healthcheck_failures_total", map[string]string{"to": silent.Addr().String(), "proxy_name": "forward"}},
		{"coredns_forward_lookup_failures_total", map[string]string{"host": "metrics.example"}},
	} {
		dnstest.WaitFor(t, tt.name, func() bool { return counted(t, tt.name, tt.labels) > 0 })
	}
	dnstest.WaitFor(t, "a question that finds all upstreams down", func() bool {
		s.Ask(t, "dead.example.", dns.TypeA)
		return counted(t, "coredns_forward_healthcheck_broken_total", nil) > allDown
	})
}

func TestMetricsAreNamedAsPrometheusWantsThem(t *testing.T) {
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool {
		return !strings.HasPrefix(f.GetName(), "coredns_forward_") && !strings.HasPrefix(f.GetName(), "coredns_proxy_")
	})
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(families) == 0 || len(problems) > 0 {
		t.Errorf("%d metrics, error %v, problems %v", len(families), err, problems)
	}
}
