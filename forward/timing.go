package forward

import "time"

// attempts is how many failed attempts a question may have among n upstreams; zero stands for no limit.
func (b *block) attempts(n int) int {
	if b.maxAttempts < 0 {
		return defaultPasses * n
	}
	return b.maxAttempts
}

// attemptDeadline is when an attempt that begins now has to be over. When another may follow, it leaves half of what is
// left of the question's budget to it, so that a connection that cannot be made does not use up all of it; but an
// upstream always has its read timeout, even if that leaves nothing.
func attemptDeadline(now, deadline time.Time, readTimeout time.Duration, another bool) time.Time {
	left := deadline.Sub(now)
	if share := max(left/2, readTimeout); another && share < left {
		return now.Add(share)
	}
	return deadline
}

// The pause after the second pass, and the longest after later ones.
const (
	minRest = 10 * time.Millisecond
	maxRest = 500 * time.Millisecond
)

// between is how long to wait after so many passes over all upstreams.
func between(passes int) time.Duration {
	switch {
	case passes < defaultPasses:
		return 0
	case passes >= 8:
		return maxRest
	}
	return min(minRest<<(passes-defaultPasses), maxRest)
}
