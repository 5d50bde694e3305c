package forward

import "math/bits"

// maxUpstreams bounds the upstreams of one block at one time, so that a question's notes about them are a value on its
// stack. What host names and files bring beyond it is left out with a warning.
const maxUpstreams = 256

// set is a set of indices of upstreams.
type set [maxUpstreams / 64]uint64

func (s *set) add(i int)     { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// without returns the members of s that are not in t.
func (s set) without(t set) set {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

// size returns how many members s has.
func (s set) size() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// nth returns the member of s with n smaller ones. n must be less than the size.
func (s set) nth(n int) int {
	for i, word := range s {
		if c := bits.OnesCount64(word); n >= c {
			n -= c
			continue
		}
		for ; n > 0; n-- {
			word &= word - 1
		}
		return i*64 + bits.TrailingZeros64(word)
	}
	panic("forward: no such member")
}
