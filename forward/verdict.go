package forward

import (
	"slices"

	"github.com/miekg/dns"
)

// verdict is what becomes of a reply.
type verdict uint8

const (
	deliver  verdict = iota // it goes to the client
	tryOther                // another upstream of the same block may have a better one
	tryNext                 // the next forward block may have a better one
)

// rules say which replies are not good enough.
type rules struct {
	failover     []int // rcodes on which another upstream is asked, as long as there is one
	next         []int // rcodes on which the next forward block is asked
	nextOnNodata bool  // NOERROR without an answer asks the next forward block
}

// failsOver tells whether another upstream should be asked instead of taking reply.
func (r rules) failsOver(reply *dns.Msg) bool { return slices.Contains(r.failover, reply.Rcode) }

// judge decides about a reply. others: an upstream of this block is left that has not answered the question; chained:
// another forward block follows.
func (r rules) judge(reply *dns.Msg, others, chained bool) verdict {
	switch {
	case others && r.failsOver(reply):
		return tryOther
	case chained && slices.Contains(r.next, reply.Rcode):
		return tryNext
	case chained && r.nextOnNodata && reply.Rcode == dns.RcodeSuccess && len(reply.Answer) == 0:
		return tryNext
	}
	return deliver
}
