package forward

import (
	"hash/maphash"
	"sync"

	"github.com/coredns/coredns/request"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// likeness is what two questions must have in common for one reply to do for both: everything that goes to an upstream
// but the letter case of the name.
type likeness struct {
	name          string // lower-case
	qtype, qclass uint16
	header        uint16 // the flags of the header
	tcp, edns     bool
	size          uint16 // UDP payload size of the OPT record
	ttl           uint32 // extended rcode, version and flags of the OPT record, DO among them
}

// of makes l what the question in state has to have in common with others, and tells whether it may have anything in
// common at all. Options of EDNS can mean anything, so a question with any but those that stay on their hop goes alone;
// so does HINFO, by whose number of questions the loop plugin knows a loop. proto is that of the client, and state is a
// question that is not refused.
func (l *likeness) of(state *request.Request, proto string) bool {
	m := state.Req
	q := &m.Question[0]
	if q.Qtype == dns.TypeHINFO || len(m.Answer) > 0 || len(m.Ns) > 0 || len(m.Extra) > 1 {
		return false
	}
	if len(m.Extra) == 1 {
		opt, ok := m.Extra[0].(*dns.OPT)
		if !ok || !onHopOnly(opt) {
			return false
		}
		l.edns, l.size, l.ttl = true, opt.Hdr.Class, opt.Hdr.Ttl
	}
	l.name, l.qtype, l.qclass = state.Name(), q.Qtype, q.Qclass
	l.header, l.tcp = flags(&m.MsgHdr), proto == "tcp"
	return true
}

func onHopOnly(opt *dns.OPT) bool {
	for _, o := range opt.Option {
		if !upstream.HopByHop(o.Option()) {
			return false
		}
	}
	return true
}

// flags are the bits of a header that questions may differ in.
func flags(h *dns.MsgHdr) (bits uint16) {
	for i, set := range [...]bool{h.Authoritative, h.Truncated, h.RecursionDesired, h.RecursionAvailable, h.Zero,
		h.AuthenticatedData, h.CheckingDisabled} {
		if set {
			bits |= 1 << i
		}
	}
	return bits | uint16(h.Rcode&0xF)<<8
}

// flight is a question under way on behalf of everybody who asks the same. One of them leads, which means to ask; the
// others wait for what the leader brings.
type flight struct {
	// reply and err are set before landed is closed and not changed afterwards. reply is nobody's: all who wait copy it.
	reply  *dns.Msg
	from   *member // whose reply it is
	err    error
	landed chan struct{} // nil until somebody waits; set under the lock of the shard

	waiting  int    // under the lock of the shard
	orphaned bool   // the leader's client has gone; under the lock of the shard
	cancel   func() // ends the question; nil if the leader's client cannot go
}

// flights are the questions of a block that are under way. The zero value must be given a seed.
type flights struct {
	seed   maphash.Seed
	shards [flightShards]flightShard
}

// flightShards keeps questions on different cores from waiting for each other: a shard is locked for some 50 ns, twice a
// question.
const flightShards = 64

type flightShard struct {
	mu sync.Mutex
	m  map[likeness]*flight
	_  [48]byte // a cache line for each
}

func (f *flights) shard(l *likeness) *flightShard {
	return &f.shards[maphash.String(f.seed, l.name)%flightShards]
}

// join makes own the flight of l unless there is one already, and returns the one that counts.
func (s *flightShard) join(l *likeness, own *flight) (current *flight, leads bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if current = s.m[*l]; current == nil {
		if s.m == nil {
			s.m = make(map[likeness]*flight)
		}
		s.m[*l] = own
		return own, true
	}
	if current.landed == nil {
		current.landed = make(chan struct{})
	}
	current.waiting++
	return current, false
}

// land takes own out and tells whether somebody waits for it. Afterwards nobody can join it.
func (s *flightShard) land(l *likeness, own *flight) (awaited bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(l, own)
	return own.landed != nil
}

func (s *flightShard) remove(l *likeness, own *flight) {
	if s.m[*l] == own {
		delete(s.m, *l)
	}
}

// orphan says that the leader's client has gone. The question goes on for those who wait, if there are any.
func (s *flightShard) orphan(l *likeness, own *flight) {
	s.mu.Lock()
	own.orphaned = true
	nobody := own.waiting == 0
	if nobody {
		s.remove(l, own)
	}
	s.mu.Unlock()
	if nobody {
		own.cancel()
	}
}

// leave is the opposite of join for those who do not lead.
func (s *flightShard) leave(l *likeness, current *flight) {
	s.mu.Lock()
	current.waiting--
	nobody := current.orphaned && current.waiting == 0
	if nobody {
		s.remove(l, current)
	}
	s.mu.Unlock()
	if nobody {
		current.cancel()
	}
}

// copyFor makes of a reply to a like question one to r, whose letter case it has. The records that answer for the name
// of the question have the case that the upstream gave them, which most servers take from the question.
func copyFor(r, reply *dns.Msg) *dns.Msg {
	m := reply.Copy()
	m.Id = r.Id
	asked, answered := r.Question[0].Name, reply.Question[0].Name
	m.Question = []dns.Question{r.Question[0]}
	if asked == answered {
		return m
	}
	for _, section := range [...][]dns.RR{m.Answer, m.Ns, m.Extra} {
		for _, rr := range section {
			if h := rr.Header(); h.Name == answered {
				h.Name = asked
			}
		}
	}
	return m
}
