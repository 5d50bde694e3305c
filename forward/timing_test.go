package forward

import (
	"testing"
	"time"
)

func TestLookupIntervalBoundsTheTTL(t *testing.T) {
	every := pace{2 * time.Second, 10 * time.Second}
	for ttl, want := range map[time.Duration]time.Duration{
		0:               2 * time.Second,
		7 * time.Second: 7 * time.Second,
		time.Hour:       10 * time.Second,
	} {
		if got := every.pause(ttl, 0, 0); got != want {
			t.Errorf("TTL %s: %s until the next look-up, want %s", ttl, got, want)
		}
	}
}

func TestAnAttemptLeavesTimeForTheNext(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name        string
		left        time.Duration
		readTimeout time.Duration
		another     bool
		want        time.Duration
	}{
		{"half of a fresh budget", 5 * time.Second, 2 * time.Second, true, 2500 * time.Millisecond},
		{"never less than the read timeout", 2500 * time.Millisecond, 2 * time.Second, true, 2 * time.Second},
		{"never more than is left", time.Second, 2 * time.Second, true, time.Second},
		{"all of it for the last one", 5 * time.Second, 2 * time.Second, false, 5 * time.Second},
		{"a read timeout as long as the budget", 5 * time.Second, 5 * time.Second, true, 5 * time.Second},
	} {
		got := attemptDeadline(now, now.Add(tt.left), tt.readTimeout, tt.another)
		if got.Sub(now) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.Sub(now), tt.want)
		}
	}
}

// B3: an upstream that fails at once was asked thousands of times for one question.
func TestPassesAfterTheUsualTwoArePaced(t *testing.T) {
	if between(0) != 0 || between(1) != 0 {
		t.Error("the usual two passes wait")
	}
	var total time.Duration
	passes := 0
	for ; total < defaultBudget; passes++ {
		total += between(passes)
	}
	if passes > 25 {
		t.Errorf("%d passes in %s, want a handful", passes, defaultBudget)
	}
	for i := range 100 {
		if d := between(i); d < 0 || d > maxRest {
			t.Fatalf("between(%d) is %s", i, d)
		}
	}
}

func TestLookupsFollowTheTTLAndBackOff(t *testing.T) {
	for _, tt := range []struct {
		ttl      time.Duration
		failures int
		chance   float64
		want     time.Duration
	}{
		{time.Minute, 0, 0, time.Minute},
		{time.Minute, 0, 1, 48 * time.Second},
		{0, 0, 0, minRefresh},
		{24 * time.Hour, 0, 0, maxRefresh},
		{0, 1, 0, minRetry},
		{0, 2, 0, 2 * minRetry},
		{0, 6, 0, 16 * time.Second},
		{0, 7, 0, maxRetry},
		{time.Hour, 1000000, 0, maxRetry},
	} {
		if got := (pace{minRefresh, maxRefresh}).pause(tt.ttl, tt.failures, tt.chance); got != tt.want {
			t.Errorf("TTL %s after %d failures: %s, want %s", tt.ttl, tt.failures, got, tt.want)
		}
	}
}
