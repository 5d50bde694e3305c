package forward

import "time"

// hedging says when a question is sent to a second upstream without having failed.
type hedging struct {
	mode  hedgeMode
	delay time.Duration // zero: what the upstream usually takes
	share float64       // copies for each question
}

type hedgeMode uint8

const (
	hedgeByPolicy hedgeMode = iota // where the policy treats upstreams as equals
	hedgeOff
	hedgeOn
)

// defaultShare is enough for what is late by the measure of the upstream itself, one question in twenty, and cannot
// matter to upstreams.
const defaultShare = 0.05

const (
	// minPatience keeps noise from using up the budget: a pause of the garbage collector or of the scheduler, here or there,
	// makes everything late that is under way.
	minPatience = 20 * time.Millisecond
	// coldPatience is for upstreams of which too little is known.
	coldPatience = 100 * time.Millisecond
)

// applies tells whether questions are hedged under p.
func (h hedging) applies(p policy) bool {
	return h.mode == hedgeOn || h.mode == hedgeByPolicy && p != sequential
}

// patience is how long to wait for an upstream whose 95th percentile is usual; zero if that is not known.
func (h hedging) patience(usual time.Duration) time.Duration {
	switch {
	case h.delay > 0:
		return h.delay
	case usual == 0:
		return coldPatience
	}
	return max(usual, minPatience)
}
