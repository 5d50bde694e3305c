package etcd

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func TestMetricsAreThoseOfTheREADME(t *testing.T) {
	e := loadedWith(services(10))
	live.add(e.zones["zone.test."].source)
	defer live.remove(e.zones["zone.test."].source)
	for _, c := range []*prometheus.CounterVec{failures, staleAnswers, walksCut} {
		labels := map[string]string{"server": "s", "zone": "z"}
		if c == failures {
			labels["state"] = "starting"
		}
		c.With(labels).Add(0)
	}
	relayed.WithLabelValues("s", "stub", relayAnswered).Add(0)
	transfers.WithLabelValues("z", transferWhole).Add(0)
	notifies.WithLabelValues("z", "accepted").Add(0)
	relists.WithLabelValues("audit").Add(0)

	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var registered []string
	ours := families[:0:0]
	for _, f := range families {
		if name := f.GetName(); strings.HasPrefix(name, "coredns_etcd_") {
			registered, ours = append(registered, name), append(ours, f)
		}
	}
	registered = append(registered, "coredns_etcd_snapshot_age_seconds") // once there is a snapshot
	slices.Sort(registered)

	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\* `(coredns_etcd_[a-z_]+)\\{").FindAllSubmatch(readme, -1) {
		documented = append(documented, string(m[1]))
	}
	slices.Sort(documented)
	if !slices.Equal(registered, documented) {
		t.Errorf("registered %q\ndocumented %q", registered, documented)
	}
	problems, err := promlint.NewWithMetricFamilies(ours).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
}

// Each property has its bullet and its line in the README's syntax, and each bullet is a property.
func TestPropertiesAreThoseOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	syntax := regexp.MustCompile(`(?s)etcd \[ZONES\.\.\.\] \{\n(.*?)\n\}`).FindSubmatch(readme)
	if syntax == nil {
		t.Fatal("no syntax")
	}
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^ +([a-z_-]+)`).FindAllSubmatch(syntax[1], -1) {
		documented = append(documented, string(m[1]))
		if !regexp.MustCompile("(?m)^\\* `" + string(m[1]) + "\\b").Match(readme) {
			t.Errorf("%s has no bullet", m[1])
		}
	}
	documented = append(documented, "upstream", "debug")
	slices.Sort(documented)
	var known []string
	for name := range properties {
		known = append(known, name)
	}
	slices.Sort(known)
	if !slices.Equal(known, documented) {
		t.Errorf("known %q\ndocumented %q", known, documented)
	}
}

// A zone that two clusters hold shows once, or the whole page of metrics would fail.
func TestMetricsOfOneZoneInTwoClusters(t *testing.T) {
	a, b := loadedWith(services(1)).zones["zone.test."].source, loadedWith(services(2)).zones["zone.test."].source
	live.add(a)
	live.add(b)
	defer live.remove(a)
	defer live.remove(b)
	if _, err := prometheus.DefaultGatherer.Gather(); err != nil {
		t.Error(err)
	}
}
