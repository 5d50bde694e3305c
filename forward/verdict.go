package forward

import (
	"slices"

	"github.com/miekg/dns"
)

// rules say which replies are not good enough, and who may have a better one.
type rules struct {
	failover     []int // rcodes on which another upstream of the block is asked
	next         []int // rcodes on which the next forward block is asked
	nextOnNodata bool  // NOERROR without an answer asks the next forward block
}

// failsOver tells whether another upstream of the block should be asked, if there is one that has not been yet.
func (r rules) failsOver(reply *dns.Msg) bool { return slices.Contains(r.failover, reply.Rcode) }

// isPoor tells whether reply is one that another upstream may well have a better one than: rcodes by which a server says
// that it could not or would not find out, and those that the Corefile has another one asked for.
func (r rules) isPoor(reply *dns.Msg) bool {
	return reply.Rcode == dns.RcodeServerFailure || reply.Rcode == dns.RcodeRefused || r.failsOver(reply)
}

// passesOn tells whether the next forward block should be asked, if there is one, now that this one has done what it
// can.
func (r rules) passesOn(reply *dns.Msg) bool {
	nodata := reply.Rcode == dns.RcodeSuccess && len(reply.Answer) == 0
	return r.nextOnNodata && nodata || slices.Contains(r.next, reply.Rcode)
}
