package monitoring

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted     = regexp.MustCompile(`"[^"]*"`)
	selector   = regexp.MustCompile(`\b((?:coredns|trident|process|go)_[a-z0-9_]+)\b(?:\s*\{([^}]*)\})?`)
	matched    = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	aggregated = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
)

// scraped are the labels that Prometheus adds, and le, which every histogram has.
var scraped = map[string]bool{"job": true, "instance": true, "le": true}

// faults says what in an expression does not exist, and notes the metrics in it.
func faults(expr string, known labelled, used map[string]bool) (all []string) {
	expr = quoted.ReplaceAllString(expr, `""`)
	labels := make(map[string]bool)
	metrics := selector.FindAllStringSubmatch(expr, -1)
	if len(metrics) == 0 {
		all = append(all, "no metric")
	}
	for _, m := range metrics {
		own, name, ok := known.of(m[1])
		if !ok {
			all = append(all, fmt.Sprintf("no metric %s", m[1]))
			continue
		}
		used[name] = true
		for l := range own {
			labels[l] = true
		}
		for _, l := range matched.FindAllStringSubmatch(m[2], -1) {
			if !own[l[1]] && !scraped[l[1]] {
				all = append(all, fmt.Sprintf("%s has no label %s", m[1], l[1]))
			}
		}
	}
	for _, by := range aggregated.FindAllStringSubmatch(expr, -1) {
		for _, l := range strings.Split(by[1], ",") {
			if l = strings.TrimSpace(l); l != "" && !labels[l] && !scraped[l] {
				all = append(all, fmt.Sprintf("no metric of the expression has a label %s", l))
			}
		}
	}
	return all
}

func TestFaultsOfExpressionsAreFound(t *testing.T) {
	known := labelled{"coredns_a_total": {"to": true}, "coredns_b_seconds": {"zone": true}}
	for expr, want := range map[string]int{
		`rate(coredns_a_total{to="x", job="j"}[5m])`:                                0,
		`sum by (le, zone) (rate(coredns_b_seconds_bucket[5m]))`:                    0,
		`sum by (to) (coredns_a_total) / sum by (zone) (coredns_b_seconds_count{})`: 0,
		`coredns_c_total`:                               1,
		`coredns_a_bucket`:                              1,
		`coredns_a_total{zone="x"}`:                     1,
		`coredns_a_total{to="zone=x, coredns_c_total"}`: 0,
		`sum by (zone) (coredns_a_total{from!~"x"})`:    2,
		`vector(1)`: 1,
	} {
		if got := faults(expr, known, map[string]bool{}); len(got) != want {
			t.Errorf("%q, want %d faults in %s", got, want, expr)
		}
	}
}
