package forward

import (
	"math/rand/v2"
	"time"
)

// policy is a rule for choosing among upstreams. Every rule is a function of which upstreams can be chosen, of the
// question's turn, of chance, and of what the upstreams are known for: it remembers nothing.
type policy uint8

const (
	random policy = iota
	roundRobin
	sequential
	leastLatency
)

// policies are the rules by the name that the Corefile gives them.
var policies = map[string]policy{"random": random, "round_robin": roundRobin, "sequential": sequential,
	"least_latency": leastLatency}

// choose picks one of candidates, which are indices of members and must not be empty. turn counts the questions of the
// block: round_robin spreads them evenly over the upstreams that can be chosen, so that what a dead one would have got is
// shared by all the others.
func (p policy) choose(candidates set, turn uint64, members []*member) int {
	switch p {
	case roundRobin:
		return candidates.nth(int(turn % uint64(candidates.size()))) // a set has at most maxUpstreams members
	case sequential:
		return candidates.nth(0)
	case leastLatency:
		a, b := two(candidates)
		if members[b].cost() < members[a].cost() {
			return b
		}
		return a
	default:
		return candidates.nth(rand.IntN(candidates.size()))
	}
}

// two draws two candidates, which are the same if there is only one. Comparing two by chance instead of all keeps questions
// that come at the same time, and know the same, from all going the same way.
func two(candidates set) (a, b int) {
	n := candidates.size()
	first := rand.IntN(n)
	if n == 1 {
		return candidates.nth(0), candidates.nth(0)
	}
	second := rand.IntN(n - 1)
	if second >= first {
		second++
	}
	return candidates.nth(first), candidates.nth(second)
}

// expense is what one more question can be expected to cost at an upstream that takes so long and has so many under way.
// One of which nothing is known is taken to be fast, so that it becomes known.
func expense(latency time.Duration, inFlight int) float64 {
	return float64(max(latency, time.Microsecond)) * float64(inFlight+1)
}
