package etcdproc

import (
	"fmt"
	"strconv"
	"strings"
)

// parseMetric adds up the samples of a metric, whatever their labels, in Prometheus's text format.
func parseMetric(text, name string) (sum float64, err error) {
	found := false
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexAny(rest, " }")+1:]), 64)
		if err != nil {
			return 0, fmt.Errorf("reading %q: %w", line, err)
		}
		sum, found = sum+value, true
	}
	if !found {
		return 0, fmt.Errorf("no metric %s", name)
	}
	return sum, nil
}
