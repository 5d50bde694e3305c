package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/trident-dns/trident/bench/internal/contest"
)

// sample is what one round found out about one binary. Memory is in bytes.
type sample struct {
	idle   float64       // resident, with an empty list
	loaded float64       // resident, with the list
	peak   float64       // the most that was resident while the list was loaded again
	ready  time.Duration // from the start of the process to the first right answer
}

func (s sample) added() float64     { return s.loaded - s.idle }
func (s sample) addedPeak() float64 { return s.peak - s.idle }

func (s sample) String() string {
	return fmt.Sprintf("idle %.1f MB, list adds %.1f MB, at most %.1f MB while reloading, ready after %.2f s",
		s.idle/1e6, s.added()/1e6, s.addedPeak()/1e6, s.ready.Seconds())
}

// table compares the medians of both.
func table(stock, ours []sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-42s %10s %10s %12s\n", "median", "stock", "ours", "ours/stock")
	for _, row := range []struct {
		what string
		unit float64
		f    func(sample) float64
	}{
		{"resident memory that the list adds, MB", 1e6, sample.added},
		{"peak above idle while reloading, MB", 1e6, sample.addedPeak},
		{"time to the first right answer, s", 1, func(s sample) float64 { return s.ready.Seconds() }},
	} {
		a, z := contest.Median(stock, row.f)/row.unit, contest.Median(ours, row.f)/row.unit
		fmt.Fprintf(&b, "%-42s %10.2f %10.2f %12.2f\n", row.what, a, z, z/a)
	}
	return b.String()
}
