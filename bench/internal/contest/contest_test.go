package contest

import (
	"strings"
	"testing"
	"time"
)

func result() Result {
	at := func(rate float64) Sample {
		return Sample{Rate: rate, CPU: 40 * time.Microsecond, Busy: 0.99, P50: time.Millisecond, P99: 2 * time.Millisecond, Lost: 0.0125, Work: 1}
	}
	lazy := at(1234567)
	lazy.Busy = 0.5
	return Result{Row: "udp", Title: "forward over UDP", Counted: "reads", Entries: []Entry{
		{Name: "stock", Stock: true, Samples: []Sample{at(100), at(900), at(200)}},
		{Name: "Trident", Samples: []Sample{at(300)}},
		{Name: "lazy", Samples: []Sample{lazy}},
		{Name: "NSD", Problem: "not installed"},
		{Name: "Unbound", Problem: "failed"},
	}}
}

func TestTheTableComparesMediansWithStock(t *testing.T) {
	r := result()
	r.Finish()
	got := r.Markdown()
	for _, want := range []string{
		"| forward over UDP | answers a second | ratio | CPU a question | p50 | p99 | lost | reads |\n| --- |",
		"| stock | 200 | 1.00 | 40.0 µs | 1.00 ms | 2.00 ms | 1.25 % | 1.0000 |\n",
		"| Trident | 300 | 1.50 |",
		"| lazy | 1,234,567 * |",
		"| NSD | not installed |  |",
		"\\* The server's core was not busy",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if failed := r.Failed(); len(failed) != 1 || failed[0] != "udp: Unbound" {
		t.Errorf("failed: %q", failed)
	}
}

func TestThereIsNoRatioWithoutStock(t *testing.T) {
	r := result()
	r.Entries[0].Samples = nil
	r.Finish()
	if r.Entries[1].Ratio != 0 || r.Entries[1].Median.Rate != 300 {
		t.Errorf("got %+v", r.Entries[1])
	}
}

func TestPercentilesAreValuesThatOccurred(t *testing.T) {
	all := make([]time.Duration, 200)
	for i := range all {
		all[i] = time.Duration(i + 1)
	}
	for p, want := range map[int]time.Duration{0: 1, 1: 2, 50: 100, 99: 198, 100: 200} {
		if got := Percentile(all, p); got != want {
			t.Errorf("%d of a hundred: got %d, want %d", p, got, want)
		}
	}
	if got := Percentile([]time.Duration{7}, 99); got != 7 {
		t.Errorf("of one value: got %d", got)
	}
	if got := Percentile([]time.Duration(nil), 99); got != 0 {
		t.Errorf("of none: got %d", got)
	}
}

func TestMedianOfAnEvenNumberIsBetweenTheTwo(t *testing.T) {
	if got := Median([]float64{4, 1, 3, 100}, func(f float64) float64 { return f }); got != 3.5 {
		t.Errorf("got %v", got)
	}
}

func TestNumbersHaveCommas(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 999.4: "999", 1000: "1,000", 123456: "123,456"} {
		if got := Thousands(f); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestTheProcessorHasItsName(t *testing.T) {
	if got := cpuModel("processor\t: 0\nmodel name\t: Some CPU @ 3: GHz\n"); got != "Some CPU @ 3: GHz" {
		t.Errorf("got %q", got)
	}
}
