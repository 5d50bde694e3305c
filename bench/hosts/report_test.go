package main

import (
	"strings"
	"testing"
	"time"
)

func TestTheTableHasMediansAndRatios(t *testing.T) {
	stock := []sample{
		{idle: 10e6, loaded: 250e6, peak: 510e6, ready: 2 * time.Second},
		{idle: 10e6, loaded: 9e9, peak: 9e9, ready: time.Hour}, // the odd one out
		{idle: 10e6, loaded: 250e6, peak: 510e6, ready: 2 * time.Second},
	}
	ours := []sample{
		{idle: 10e6, loaded: 50e6, peak: 100e6, ready: 400 * time.Millisecond},
		{idle: 10e6, loaded: 70e6, peak: 120e6, ready: 600 * time.Millisecond},
	}
	got := strings.Join(strings.Fields(table(stock, ours)), " ")
	for _, want := range []string{"adds, MB 240.00 50.00 0.21", "reloading, MB 500.00 100.00 0.20", "answer, s 2.00 0.50 0.25"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}
