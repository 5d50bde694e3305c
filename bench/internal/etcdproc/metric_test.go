package etcdproc

import "testing"

func TestMetricsAreAddedUpOverTheirLabels(t *testing.T) {
	text := "# HELP etcd_mvcc_range_total Total\n# TYPE etcd_mvcc_range_total counter\netcd_mvcc_range_total 12\n" +
		"etcd_mvcc_range_total_other 5\ngrpc{method=\"Range {x} 7\"} 1.5e+06\ngrpc{method=\"Put\"} 2\n"
	for name, want := range map[string]float64{"etcd_mvcc_range_total": 12, "grpc": 1500002} {
		if got, err := parseMetric(text, name); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
	for _, name := range []string{"etcd_mvcc", "nothing"} {
		if _, err := parseMetric(text, name); err == nil {
			t.Errorf("%s has a value", name)
		}
	}
}
