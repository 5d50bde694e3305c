package backend

import (
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// chain is the way from a name to the records that it stands for.
type chain struct {
	answer []dns.RR
	first  *walk // the records of the first name, nil when no zone here holds it
	// What the end of the chain is: records (all of these are zero), a name without records of the type (zone is set)
	// that exists or not, or a name for somebody else to answer (outside).
	zone    *Zone
	store   Store
	exists  bool
	outside string
	// merge are names for somebody else to answer, whose records are then those of owner.
	merge []string
	owner string
}

// follow goes from name to the records of a type, through CNAME records where the type allows. glue is set when the
// records are for an additional section: they may then lie beyond a zone cut.
func (l *lookup) follow(name string, qtype uint16, glue bool) chain {
	return l.followFrom(placeOf(name), qtype, glue)
}

// place is a name in the forms that it is needed in.
type place struct {
	name  string // as it was written
	lower string
	path  string
	slash string // path with a slash at its end; "" for the root
}

func placeOf(name string) place {
	lower := skydns.Lower(name)
	// Both are one string.
	var buf [256]byte
	slash := string(append(skydns.AppendPath(buf[:0], lower), '/'))
	if slash == "/" {
		return place{name: name, lower: lower}
	}
	return place{name, lower, slash[:len(slash)-1], slash}
}

func (l *lookup) followFrom(at place, qtype uint16, glue bool) chain {
	var c chain
	for {
		name, path := at.name, at.path
		zone, store := l.view.Zone(at.lower)
		if zone == nil {
			c.outside = name
			return c
		}
		if !glue && len(c.answer) > 0 {
			if _, ok := findCut(l.view, zone, store, path, qtype); ok {
				return c // whoever is delegated to knows
			}
		}
		w := l.gather(zone, store, at, qtype, glue)
		if c.first == nil {
			c.first = w
		}
		rrs := l.records(w, name, qtype)
		aliases := w.aliases()
		if path == zone.Path {
			aliases.single = false // beside the SOA record: RFC 1034, section 3.6.2
		}
		if !aliases.single && followsAlias(qtype) {
			rrs = l.merge(&c, rrs, aliases, name, qtype, glue)
		}
		if len(rrs) > 0 {
			if c.answer == nil {
				c.answer = rrs
				return c
			}
			c.answer = append(c.answer, rrs...)
			return c
		}
		if len(c.merge) > 0 {
			return c
		}
		if l.steps.out && len(c.answer) > 0 {
			return c // out of steps: what is there was not seen
		}
		if !aliases.single || !followsAlias(qtype) && qtype != dns.TypeCNAME {
			c.zone, c.store, c.exists = zone, store, w.found || path == zone.Path
			return c
		}
		target := aliases.targets[0]
		c.answer = append(c.answer, &dns.CNAME{Hdr: l.header(name, dns.TypeCNAME, aliases.via[0]), Target: target})
		// A chain that is too long or comes back ends without its end: who follows it finds out by himself.
		if qtype == dns.TypeCNAME || len(c.answer) > MaxChain || owns(c.answer, target) {
			return c
		}
		at = placeOf(target)
	}
}

// owns tells whether one of the records of a chain is of this name already.
func owns(answer []dns.RR, name string) bool {
	for _, rr := range answer {
		if equalNames(rr.Header().Name, name) {
			return true
		}
	}
	return false
}

func equalNames(a, b string) bool { return skydns.Lower(a) == skydns.Lower(b) }

// followsAlias tells whether a name without records of this type is answered with its CNAME record. A record with a
// name for a host is a CNAME record for what clients connect to; SRV, MX and PTR have it as their target, and the rest
// is the zone's own.
func followsAlias(qtype uint16) bool {
	switch qtype {
	case dns.TypeSRV, dns.TypeMX, dns.TypePTR, dns.TypeNS, dns.TypeSOA, dns.TypeCNAME, dns.TypeDS:
		return false
	}
	return qtype < 128 || qtype > 255 // question types, RFC 6895, section 3.1
}

// isOwn tells whether a target brings nothing that the name has not got already: it is the name itself, or below it
// where all that is below was walked.
func (w *walk) isOwn(target string) bool {
	p := skydns.PathOf(target)
	return p == w.path || w.whole && IsWithin(p, w.path)
}

// chase answers a question of a type that has no targets of its own.
func (l *lookup) chase(at place) {
	c := l.followFrom(at, l.q.Type, false)
	l.res.Answer = c.answer
	switch {
	case c.outside != "":
		l.askOutside(c.outside)
	case len(c.merge) > 0:
		l.mergeOutside(c)
	case c.zone != nil:
		l.negative(c.zone, c.store, c.exists)
	}
	if len(c.answer) > 0 {
		return
	}
	switch l.q.Type {
	case dns.TypeCNAME, dns.TypePTR:
		l.res.Missing = !c.first.leaf
	default:
		l.res.Missing = !c.first.found
	}
}

// askOutside completes a chain with what is known elsewhere about its last name.
func (l *lookup) askOutside(name string) {
	if l.q.Outside == nil {
		return
	}
	m, err := l.q.Outside(l.ctx, name, l.q.Type)
	if err != nil || m == nil {
		l.res.Rcode = dns.RcodeServerFailure
		return
	}
	l.res.Answer = append(l.res.Answer, m.Answer...)
	l.res.Truncated = m.Truncated
	switch m.Rcode {
	case dns.RcodeNameError, dns.RcodeServerFailure:
		// RFC 6604, section 3: the rcode is that of the end of the chain.
		l.res.Rcode = m.Rcode
	default:
		// Whoever refuses does not serve the name: the client may ask where it is served.
	}
	for _, rr := range m.Ns {
		if rr.Header().Rrtype == dns.TypeSOA {
			l.res.Ns = append(l.res.Ns, rr)
		}
	}
}
