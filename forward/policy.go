package forward

import "math/rand/v2"

// policy is a rule for choosing among upstreams. Every rule is a function of which upstreams can be chosen, of the
// question's turn, and of chance: it remembers nothing.
type policy uint8

const (
	random policy = iota
	roundRobin
	sequential
)

// policies are the rules by the name that the Corefile gives them.
var policies = map[string]policy{"random": random, "round_robin": roundRobin, "sequential": sequential}

// choose picks one of candidates, which must not be empty. turn counts the questions of the block: round_robin spreads
// them evenly over the upstreams that can be chosen, so that what a dead one would have got is shared by all the others.
func (p policy) choose(candidates set, turn uint32) int {
	switch p {
	case roundRobin:
		return candidates.nth(int(turn % uint32(candidates.size()))) // a set has at most maxUpstreams members
	case sequential:
		return candidates.nth(0)
	default:
		return candidates.nth(rand.IntN(candidates.size()))
	}
}
