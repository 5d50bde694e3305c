package backend

import "sync/atomic"

// Steps counts what a client's question spends: MaxTotalSteps are for its own walks and for those of all lookups that it
// causes when names outside lead back to a zone here (Question.Outside), which carry it along. The zero value has spent
// nothing. It may be used from any goroutine.
type Steps struct {
	spent atomic.Int64
}

// stepsAtOnce is how many steps a lookup takes for itself at a time, so that what counts each of them is a plain number.
const stepsAtOnce = 1024

// take takes up to n steps, and returns how many are to be had.
func (s *Steps) take(n int64) int64 {
	over := max(0, min(n, s.spent.Add(n)-MaxTotalSteps))
	s.spent.Add(-over)
	return n - over
}

// allowance is what one lookup has taken of the steps of its question.
type allowance struct {
	question *Steps
	left     int64
	out      bool // a walk wanted more than there is
}

// step takes one. It tells whether there was one.
func (a *allowance) step() bool {
	if a.left == 0 && !a.out {
		a.left = a.question.take(stepsAtOnce)
		a.out = a.left == 0
	}
	if a.out {
		return false
	}
	a.left--
	return true
}

// giveBack returns what was taken and not used.
func (a *allowance) giveBack() {
	a.question.spent.Add(-a.left)
	a.left = 0
}
