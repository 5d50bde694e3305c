package hosts

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/trident-dns/trident/forward"
	"github.com/trident-dns/trident/hosts/internal/hostsfile"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
)

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// set returns the first groups of all matches of re in text.
func set(re, text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(re).FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}

func differ(t *testing.T, what string, documented, actual map[string]bool) {
	t.Helper()
	for name := range documented {
		if !actual[name] {
			t.Errorf("%s %s is in README.md and does not exist", what, name)
		}
	}
	for name := range actual {
		if !documented[name] {
			t.Errorf("%s %s is not in README.md", what, name)
		}
	}
}

func TestREADMEHasEveryPropertyOnce(t *testing.T) {
	_, syntax, _ := strings.Cut(readme(t), "## Syntax")
	syntax, _, _ = strings.Cut(syntax, "## Ready")
	actual := map[string]bool{}
	for _, name := range propertyNames() {
		actual[name] = true
	}
	differ(t, "property", set("(?m)^\\* `([a-z_]+)` ", syntax), actual)
	differ(t, "property in the syntax", set(`(?m)^    ([a-z_]+)\b`, syntax), actual)
	for name := range actual {
		if n := strings.Count(syntax, fmt.Sprintf("\n* `%s` ", name)); n != 1 {
			t.Errorf("property %s has %d bullets", name, n)
		}
	}
}

// Every bullet of the syntax says what holds without it.
func TestREADMEHasEveryDefault(t *testing.T) {
	_, syntax, _ := strings.Cut(readme(t), "## Syntax")
	syntax, _, _ = strings.Cut(syntax, "## Ready")
	for _, bullet := range strings.Split(syntax, "\n* ")[1:] {
		name, text, _ := strings.Cut(bullet, " ")
		if !strings.Contains(strings.Join(strings.Fields(text), " "), "default is") && name != "**INLINE**" {
			t.Errorf("%s has no default", name)
		}
	}
}

func TestREADMEExamplesStart(t *testing.T) {
	examples := regexp.MustCompile("(?s)~~~ corefile\n(.*?)~~~").FindAllStringSubmatch(readme(t), -1)
	if len(examples) < 5 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		zone, body, _ := strings.Cut(e[1], " {")
		t.Run(zone, func(t *testing.T) {
			s := server.Start(t, zone+":0 {"+body)
			s.Ask(t, "localhost.", dns.TypeA) // fails without a reply
			if zone != "." {
				check(t, s, []question{
					{"www.example.org.", dns.TypeA, "10.0.0.1"},
					{"x.apps.example.org.", dns.TypeA, "10.0.0.2"},
					{"nowhere.example.org.", dns.TypeA, "NXDOMAIN"},
				})
			}
		})
	}
}

func TestREADMEHasEveryMetric(t *testing.T) {
	// A series of each, since those without a value are not gathered.
	for _, m := range sourceMetrics {
		m.WithLabelValues("readme")
	}
	loadFailures.WithLabelValues("readme")
	copyFailures.WithLabelValues("readme")
	parseErrors.WithLabelValues("readme", "name")
	listHits.WithLabelValues("", "readme", "block")
	limited.WithLabelValues("ptr")
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(slices.DeleteFunc(slices.Clone(families), func(f *dto.MetricFamily) bool {
		return !strings.HasPrefix(f.GetName(), "coredns_hosts_")
	})).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	actual := map[string]bool{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "coredns_hosts_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		actual[f.GetName()+" "+fmt.Sprint(len(labels))] = true
	}
	documented := map[string]bool{}
	for m := range set("(?m)^\\* `(coredns_hosts_[a-z_]+\\{[a-z, ]*\\})`", readme(t)) {
		name, labels, _ := strings.Cut(strings.TrimSuffix(m, "}"), "{")
		n := 0
		if labels != "" {
			n = len(strings.Split(labels, ","))
		}
		documented[fmt.Sprintf("%s %d", name, n)] = true
	}
	differ(t, "metric and number of labels", documented, actual)
	for _, reason := range hostsfile.Reasons() {
		if !regexp.MustCompile("`" + reason.String() + "`\\s+\\(").MatchString(readme(t)) {
			t.Errorf("reason %s is not in README.md", reason)
		}
	}
}
