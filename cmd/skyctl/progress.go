package main

import (
	"fmt"
	"io"
	"time"
)

// progress shows how far a long import is, on one line that is written over and over.
type progress struct {
	w           io.Writer
	total, done int
	shown       bool
	now         func() time.Time
	began, last time.Time
}

// every is how often it is shown.
const every = 200 * time.Millisecond

// add counts keys that were written.
func (p *progress) add(n int) {
	p.done += n
	now := p.now()
	if p.began.IsZero() {
		p.began, p.last = now, now
	}
	if p.shown && now.Sub(p.last) >= every {
		p.last = now
		p.show(now)
	}
}

func (p *progress) show(now time.Time) {
	rate := 0.0
	if s := now.Sub(p.began).Seconds(); s > 0 {
		rate = float64(p.done) / s
	}
	fmt.Fprintf(p.w, "\r%d of %d keys (%d %%), %.0f a second ", p.done, p.total, 100*p.done/max(p.total, 1), rate)
}

// end leaves the last state on the screen.
func (p *progress) end() {
	if p.shown && p.done > 0 {
		p.show(p.now())
		fmt.Fprintln(p.w)
	}
}
