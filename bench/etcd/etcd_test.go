package main

import (
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/bench/internal/contest"
)

func TestTheTableTellsWhatEachMirrorAdds(t *testing.T) {
	got := mirrorTable([]cost{
		{writes: 100, change: use{cpu: 50 * time.Millisecond}, idle: use{cpu: time.Millisecond, took: time.Second}},
		{
			mirrors: 10, writes: 100, memory: 5e6, relists: 2,
			list:   use{cpu: 200 * time.Millisecond, sent: 7e6},
			idle:   use{cpu: 50 * time.Millisecond, took: 5 * time.Second},
			change: use{cpu: 150 * time.Millisecond, sent: 1e5},
		},
		{
			mirrors: 10, proxied: true, writes: 100, proxyCPU: 30 * time.Millisecond, proxyMemory: 2e7,
			idle: use{took: time.Second}, change: use{cpu: 60 * time.Millisecond},
		},
	})
	for _, want := range []string{
		"| 0 |  |  |  | 0.1 % | 500.0 µs |  |",
		"| 10 | 20.0 ms | 0.70 MB | 0.50 MB | 1.0 % | 1500.0 µs | 100.0 µs | 100 bytes |  |  | 2 |",
		"| 600.0 µs | 10.0 µs | 0 bytes | 300.0 µs | 20.00 MB | 0 |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	for _, line := range lines {
		if strings.Count(line, "|") != strings.Count(lines[0], "|") {
			t.Errorf("a row of another width: %s", line)
		}
	}
}

func TestWritesAreDueAtTheirRate(t *testing.T) {
	for passed, want := range map[time.Duration]int{0: 0, 999 * time.Microsecond: 0, time.Millisecond: 1, 2500 * time.Millisecond: 2500} {
		if got := dueBy(passed, 1000); got != want {
			t.Errorf("after %v: %d, want %d", passed, got, want)
		}
	}
}

func TestFlagsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		parts   []string
		mirrors string
	}{
		{[]string{"nothing"}, "1"}, {[]string{"rate"}, "0"}, {[]string{"rate"}, "x"}, {[]string{"rate"}, "1"}, // the last has no binaries
	} {
		b := bench{contest: contest.Contest{Rounds: 1, Duration: time.Minute, Outstanding: 1}}
		if err := b.check(tt.parts, tt.mirrors); err == nil {
			t.Errorf("%v, mirrors %s: no error", tt.parts, tt.mirrors)
		}
	}
}

func TestSizesAreTakenByTheRecord(t *testing.T) {
	got := sizeTable([]sizeSample{
		{bare: 2 * time.Second, listed: 3 * time.Second, idle: 5e6, loaded: 45e6},
		{bare: 2 * time.Second, listed: 3 * time.Second, idle: 5e6, loaded: 45e6},
		{bare: time.Hour, listed: time.Hour, idle: 9e9, loaded: 99e9}, // the odd one out
	}, 100_000, 10e6)
	for _, want := range []string{
		"| 100,000 records |", "each | 100 bytes |", "beyond keys and values, each | 350 bytes |", "idle server has | 300 bytes |",
		"20,000 | 2.00 s |", "first right answer | 3.00 s |", "bare read | 1.50 |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestChangesAreCountedFromBothEnds(t *testing.T) {
	var all []seen
	for i := range 200 {
		d := time.Duration(i+1) * time.Millisecond
		all = append(all, seen{sinceSent: d, sinceAcked: d / 2})
	}
	got := changeTable(all, 1000)
	for _, want := range []string{
		"1,000 writes a second, 200 looked for", "of etcd | 50.00 ms | 99.00 ms | 100.00 ms |", "to etcd | 100.00 ms | 198.00 ms | 200.00 ms |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
