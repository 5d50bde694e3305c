package upstream

import (
	"math/rand/v2"
	"time"
)

// State is what a resolver is good for, as far as its answers and its probes tell.
type State uint8

// The states, from the best to the worst.
const (
	// Sound: nothing speaks against asking it.
	Sound State = iota
	// Returning: it has been sick and answers again. It should get a growing share of the questions, not all at once.
	Returning
	// Suspect: it has gone silent, or too many questions have failed lately. Whoever has another one should ask that.
	Suspect
	// Down: MaxFails probes in a row have failed.
	Down
	states // how many there are
)

// String returns the state in one word, as metrics have it.
func (s State) String() string {
	switch s {
	case Sound:
		return "sound"
	case Returning:
		return "returning"
	case Suspect:
		return "suspect"
	case Down:
		return "down"
	}
	return "unknown"
}

// The share of a resolver that returns grows from firstShare to all within ramp, slowly at first: caches there are cold,
// what broke under the load may break again, and a path that loses every fifth datagram lets most probes through. It takes
// a second and some twenty of 500 questions to find that out, so that not one question in a hundred suffers.
const (
	ramp       = 4 * time.Second
	firstShare = 0.02
)

// share is the part of the usual questions that a resolver should get so long after it returned; 1 or more is all.
func share(since time.Duration) float64 {
	done := float64(since) / float64(ramp)
	return firstShare + (1-firstShare)*done*done
}

// State tells what r is good for. It reads a few words of memory, and the clock only while r returns.
func (r *Resolver) State() State { return r.health.state() }

// Admits tells whether r should get the question at hand: always when it is sound, never while it is suspect or down,
// and by chance, more and more often, while it returns. It is advice: Exchange asks all the same.
func (r *Resolver) Admits() bool {
	switch r.health.state() {
	case Sound:
		return true
	case Returning:
		return rand.Float64() < share(r.health.sinceReturn())
	}
	return false
}

// Latency is what questions have taken lately, a decaying mean. Failed attempts count as if they had taken ReadTimeout,
// so that a sick resolver does not stay fast. Zero: nothing is known.
func (r *Resolver) Latency() time.Duration { return time.Duration(r.health.cost.Load()) }

// Late is the time within which 95 of 100 of the replies that r gave lately have come; a reply that takes longer is late
// by the resolver's own measure. Zero: too few have come to tell.
func (r *Resolver) Late() time.Duration { return time.Duration(r.health.late.Load()) }

// InFlight is how many questions are under way to r.
func (r *Resolver) InFlight() int { return int(r.health.inFlight.Load()) }
