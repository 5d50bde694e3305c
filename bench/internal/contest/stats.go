package contest

import (
	"slices"
	"time"
)

// Sample is what one run found out about one server.
type Sample struct {
	Rate     float64       `json:"rate"`      // answers a second at the peak
	CPU      time.Duration `json:"cpu_ns"`    // of the server a question, at the peak
	Busy     float64       `json:"busy"`      // part of its core that the server used at the peak
	PeakLost float64       `json:"peak_lost"` // part of the questions without an answer at the peak
	P50      time.Duration `json:"p50_ns"`    // latency at seven tenths of the peak
	P99      time.Duration `json:"p99_ns"`
	Lost     float64       `json:"lost"` // part of the questions without an answer there
	Work     float64       `json:"work"` // Row.Work a question
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// Median returns the middle of what f says of the samples, of which there is at least one.
func Median[S any](samples []S, f func(S) float64) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, f(s))
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// Percentile returns the smallest of the sorted values that p of a hundred do not exceed, 0 if there are none.
func Percentile[T ~int64](sorted []T, p int) T {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// middle is the sample whose every figure is the median.
func middle(samples []Sample) Sample {
	of := func(f func(Sample) float64) float64 { return Median(samples, f) }
	return Sample{
		Rate:     of(func(s Sample) float64 { return s.Rate }),
		CPU:      time.Duration(of(func(s Sample) float64 { return float64(s.CPU) })),
		Busy:     of(func(s Sample) float64 { return s.Busy }),
		PeakLost: of(func(s Sample) float64 { return s.PeakLost }),
		P50:      time.Duration(of(func(s Sample) float64 { return float64(s.P50) })),
		P99:      time.Duration(of(func(s Sample) float64 { return float64(s.P99) })),
		Lost:     of(func(s Sample) float64 { return s.Lost }),
		Work:     of(func(s Sample) float64 { return s.Work }),
	}
}
