package main

import (
	"fmt"
	"time"
)

// The targets.
const (
	firstSecondP99 = 300 * time.Millisecond // in the second that begins with the fault
	settled        = 2                      // seconds from the fault until everything is as before
	recoveryTarget = time.Second            // from the return of both upstreams
	// As before is within twice the percentile of before, or this much above it: percentiles of a millisecond on a shared
	// machine differ by more than that from second to second without any fault.
	slack = 20 * time.Millisecond
)

// verdict is what was found of one run.
type verdict struct {
	row, server string
	targets     []target
}

// target is one of them: what was found, and whether it is within.
type target struct {
	name  string
	found string
	met   bool
}

func (v verdict) missed() (missed []target) {
	for _, t := range v.targets {
		if !t.met {
			missed = append(missed, t)
		}
	}
	return missed
}

// judge compares a run with the targets of its row.
func judge(r row, server string, seconds []second) verdict {
	v := verdict{row: r.name, server: server}
	add := func(name, found string, met bool) { v.targets = append(v.targets, target{name, found, met}) }
	fault := r.fault()
	var failures int
	for _, s := range seconds[fault:] {
		failures += s.servfails + s.unanswered
	}
	if r.recovers {
		took := recovery(seconds, r.back())
		add("failures", fmt.Sprint(failures), true) // there must be some; what counts is that they end
		add("recovery", took.Round(time.Millisecond).String(), took <= recoveryTarget)
		return v
	}
	add("failures", fmt.Sprint(failures), failures == 0)
	p99 := seconds[fault].percentile(0.99)
	add("p99, 1st s", rounded(p99), p99 < firstSecondP99)

	normal := usual(seconds[1:fault])
	var late time.Duration
	var most float64
	for _, s := range seconds[min(fault+settled, len(seconds)):] {
		late = max(late, s.percentile(0.99))
		most = max(most, s.amplification())
	}
	add("p99 later", fmt.Sprintf("%s (%s before)", rounded(late), rounded(normal)), late <= max(2*normal, normal+slack))
	add("amplification", fmt.Sprintf("%.2f", most), most <= r.amplification)
	return v
}

// usual returns the largest 99th percentile of the seconds before a fault.
func usual(seconds []second) (p99 time.Duration) {
	for _, s := range seconds {
		p99 = max(p99, s.percentile(0.99))
	}
	return p99
}

// recovery returns the time from the beginning of second back until every question is answered well.
func recovery(seconds []second, back int) time.Duration {
	var took time.Duration
	for i, s := range seconds[back:] {
		if s.firstGood > 0 {
			took = time.Duration(i)*time.Second + s.firstGood
		}
	}
	return took
}

func rounded(d time.Duration) string {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}
