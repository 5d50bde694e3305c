package upstream

import (
	"testing"
	"time"
)

func TestRetransmissionDelayFollowsWhatRepliesTake(t *testing.T) {
	repeat := func(n int, d time.Duration) (all []time.Duration) {
		for range n {
			all = append(all, d)
		}
		return all
	}
	for name, tt := range map[string]struct {
		samples  []time.Duration
		min, max time.Duration
	}{
		"nothing known":        {nil, initialRTO, initialRTO},
		"cache hits":           {repeat(100, time.Millisecond), minRTO, minRTO},
		"steady and far":       {repeat(100, 200*time.Millisecond), 200 * time.Millisecond, 250 * time.Millisecond},
		"slower than the most": {repeat(100, 3*time.Second), maxRTO, maxRTO},
		"one in four is a miss": {
			append(repeat(30, 2*time.Millisecond), repeat(10, 300*time.Millisecond)...), 300 * time.Millisecond, maxRTO},
		"fast again": {append(repeat(50, time.Second), repeat(100, time.Millisecond)...), minRTO, 2 * minRTO},
	} {
		var l latency
		for _, s := range tt.samples {
			l.add(s)
		}
		if got := l.rto(); got < tt.min || got > tt.max {
			t.Errorf("%s: got %v, want between %v and %v", name, got, tt.min, tt.max)
		}
	}
}
