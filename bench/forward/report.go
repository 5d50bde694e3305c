package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// sample is what one run under load found out.
type sample struct {
	rate float64       // answers a second
	cpu  time.Duration // of the server, a question
	p99  time.Duration // latency
	lost int           // questions without an answer
}

func (s sample) String() string {
	return fmt.Sprintf("%7.0f/s, %6.2f us CPU a question, p99 %s, %d lost", s.rate, micros(s.cpu),
		s.p99.Round(10*time.Microsecond), s.lost)
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// median returns the middle of what f says of the samples, of which there is at least one.
func median(samples []sample, f func(sample) float64) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, f(s))
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// table compares the medians of all contenders with those of the first one.
func table(row string, contenders []contender, samples [][]sample) string {
	columns := []struct {
		head string
		f    func(sample) float64
	}{
		{"answers/s", func(s sample) float64 { return s.rate }},
		{"CPU us", func(s sample) float64 { return micros(s.cpu) }},
		{"p99 us", func(s sample) float64 { return micros(s.p99) }},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s", row+", medians")
	for _, c := range columns {
		fmt.Fprintf(&b, " %12s %8s", c.head, "ratio")
	}
	for i, c := range contenders {
		fmt.Fprintf(&b, "\n%-16s", c.name)
		for _, column := range columns {
			own := median(samples[i], column.f)
			fmt.Fprintf(&b, " %12.1f %8.2f", own, own/median(samples[0], column.f))
		}
	}
	return b.String() + "\n"
}
