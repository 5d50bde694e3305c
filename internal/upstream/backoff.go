package upstream

import "time"

const (
	// maxBackoff is the longest pause between probes, unless the configured interval is longer, and maxDoublings how often
	// the interval doubles at most. A resolver that has been away for an hour is back in use some seconds after it is back.
	maxBackoff   = 10 * time.Second
	maxDoublings = 5
	// hurried is the time from one probe to the next at most while somebody waits for just this resolver.
	hurried = 500 * time.Millisecond
	// A resolver that relapses within calm stays out for firstHold, and twice as long each time, up to maxHold.
	calm               = 30 * time.Second
	firstHold, maxHold = time.Second, 32 * time.Second
	// doubtful is how many relapses being suspect counts for while probes are answered: they say little about a resolver that fails
	// or loses some of the questions. One that was silent, or failed probes too, has changed when it answers them.
	doubtful = 3
)

// backoff is the pause before the next probe after so many that failed beyond those that make the resolver down: being
// sure of that must not take longer than it ever did.
func backoff(interval time.Duration, excess int) time.Duration {
	return min(interval<<min(max(excess, 0), maxDoublings), max(interval, maxBackoff))
}

// relapses counts how often trouble came back soon. since: the beginning of the last one.
func relapses(n int, since time.Duration) int {
	if n < 0 || since >= calm+hold(n) {
		return 0
	}
	return n + 1
}

// hold is how long the resolver stays out at least after so many relapses.
func hold(relapse int) time.Duration {
	if relapse <= 0 {
		return 0
	}
	return min(firstHold<<min(relapse-1, 10), maxHold)
}
