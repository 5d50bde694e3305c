package upstream

// rcodeSet is a set of rcodes below 64, which all that have a name are.
type rcodeSet uint64

func newRcodeSet(rcodes []int) (s rcodeSet) {
	for _, rcode := range rcodes {
		if rcode >= 0 && rcode < 64 {
			s |= 1 << rcode
		}
	}
	return s
}

func (s rcodeSet) has(rcode int) bool { return rcode >= 0 && rcode < 64 && s>>rcode&1 != 0 }
