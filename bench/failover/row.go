package main

import (
	"sync"
	"time"
)

// The times of a run. The first second is for connections and for what a server has to learn, and is not looked at.
const (
	before = 4 * time.Second // until the fault begins
	during = 8 * time.Second // how long it lasts, unless the row says otherwise
	after  = 4 * time.Second // once it is over, in rows where that matters
)

// row is one fault.
type row struct {
	name string
	// what says it in words, for the heading.
	what string
	// steps are the changes of the upstreams' behaviour, in order of their times. The second upstream is sound unless a
	// step says so.
	steps []step
	// settings go into the forward block.
	settings string
	recovers bool // both upstreams are gone for a while: the recovery is what is looked at
	// amplification is how many queries may reach the upstreams for each question from the third second on.
	amplification float64
}

// step is what happens to the upstreams at a time.
type step struct {
	at     time.Duration
	first  behaviour
	second behaviour
}

const (
	usualAmplification = 1.06
	lossyAmplification = 1.3
)

var rows = []row{
	{name: "blackhole", what: "one of two upstreams is silent", amplification: usualAmplification,
		steps: []step{{at: before, first: silent}}},
	{name: "slow", what: "one of two upstreams answers after 1.5 s", amplification: usualAmplification,
		steps: []step{{at: before, first: slow}}},
	{name: "servfail", what: "one of two upstreams answers SERVFAIL to half of the questions", amplification: usualAmplification,
		settings: "failover SERVFAIL", steps: []step{{at: before, first: servfailHalf}}},
	{name: "loss", what: "one of two upstreams loses 20 % of the datagrams", amplification: lossyAmplification,
		steps: []step{{at: before, first: lossy}}},
	{name: "reset", what: "one of two upstreams resets TCP connections", amplification: usualAmplification,
		settings: "force_tcp", steps: []step{{at: before, first: resets}}},
	{name: "flap", what: "one of two upstreams is silent every other 3 s", amplification: usualAmplification, steps: []step{
		{at: before, first: silent}, {at: before + 3*time.Second}, {at: before + 6*time.Second, first: silent},
		{at: before + 9*time.Second}}},
	{name: "gone", what: "both upstreams are silent for 5 s", recovers: true, amplification: usualAmplification, steps: []step{
		{at: before, first: silent, second: silent}, {at: before + 5*time.Second}}},
}

func rowNames() (names []string) {
	for _, r := range rows {
		names = append(names, r.name)
	}
	return names
}

// takes tells whether c has a part in the row. With least_latency there is nothing to see where both are gone.
func (r row) takes(c contender) bool { return c.settings == "" || !r.recovers }

// length is how long the row sends questions, in whole seconds.
func (r row) length() time.Duration {
	last := r.steps[len(r.steps)-1]
	if last.first == sound && last.second == sound {
		return last.at + after
	}
	return last.at + during
}

// fault is the second in which the fault begins.
func (r row) fault() int { return int(r.steps[0].at / time.Second) }

// back is the second in which the last fault ends, or the end of the row.
func (r row) back() int {
	last := r.steps[len(r.steps)-1]
	if last.first == sound && last.second == sound {
		return int(last.at / time.Second)
	}
	return int(r.length() / time.Second)
}

// play makes the upstreams behave as the row says from now on. The function it returns ends that.
func (r row) play(ups [2]*scripted) (stop func()) {
	begin := time.Now()
	for _, u := range ups {
		u.begin(begin)
	}
	done := make(chan struct{})
	var playing sync.WaitGroup
	playing.Go(func() {
		for _, s := range r.steps {
			select {
			case <-done:
				return
			case <-time.After(time.Until(begin.Add(s.at))):
			}
			ups[0].behave(s.first)
			ups[1].behave(s.second)
		}
	})
	return func() {
		close(done)
		playing.Wait()
	}
}
