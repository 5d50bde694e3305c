package backend

import (
	"context"
	"sync"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// lookup is one question on its way to a Result.
type lookup struct {
	*Resolver
	ctx  context.Context
	view View
	q    Question
	res  Result

	room   int // records that the client can take
	merged int // targets followed so far at names with several
	steps  allowance

	first walk // of the question's own name
	begun bool // first is in use
}

// lookups are kept for the next question. Most questions need no other memory than that of one and of the answer.
var lookups = sync.Pool{New: func() any {
	l := new(lookup)
	l.first.bind()
	return l
}}

// Lookup answers q from v. The name of q, or that in At, must belong to a zone of v.
func (r *Resolver) Lookup(ctx context.Context, v View, q Question) Result {
	l := lookups.Get().(*lookup)
	l.Resolver, l.ctx, l.view, l.q, l.room = r, ctx, v, q, MaxRecords
	l.steps.question = q.Steps
	if q.Steps == nil {
		l.steps.question = new(Steps)
	}
	if q.Size > 0 {
		l.room = min(q.Size, maxSize) / minRecord
	}
	l.res.Authoritative = true
	l.answer()
	res := l.res
	// Not where an answer panics: something of it may still be at work.
	l.steps.giveBack()
	l.first.forget()
	*l = lookup{first: l.first}
	lookups.Put(l)
	return res
}

func (l *lookup) answer() {
	q := &l.q
	at := placeOf(q.Name)
	if q.At != "" {
		at = placeOf(q.At)
		at.name = q.Name
	}
	zone, store := l.view.Zone(at.lower)
	if zone == nil {
		l.res = Result{Rcode: dns.RcodeRefused}
		return
	}
	path := at.path
	if cut, ok := findCut(l.view, zone, store, path, q.Type); ok {
		l.refer(zone, store, cut)
		return
	}
	switch {
	case path == zone.Path && q.Type == dns.TypeSOA:
		l.res.Answer = []dns.RR{l.soa(zone, store)}
	case path == zone.Path && q.Type == dns.TypeNS:
		l.nameservers(zone, store)
	case q.Type == dns.TypeSRV, q.Type == dns.TypeMX:
		l.services(zone, store, at)
	default:
		l.chase(at)
	}
}

// negative makes the reply one without data: NXDOMAIN when the name does not exist, which the apex always does.
func (l *lookup) negative(zone *Zone, store Store, nameExists bool) {
	if !nameExists {
		l.res.Rcode = dns.RcodeNameError
	}
	l.res.Ns = []dns.RR{l.soa(zone, store)}
}

// soa is the SOA record of a zone. Its TTL is that of a negative answer: RFC 2308, section 5.
func (l *lookup) soa(zone *Zone, store Store) dns.RR {
	mname, rname := l.SOA.MName, l.SOA.RName
	if mname == "" {
		mname = below("ns.dns", zone)
	}
	if rname == "" {
		rname = below("hostmaster", zone)
	}
	ttl := min(l.NegativeTTL, maxSOATTL)
	if l.q.MaxTTL > 0 {
		ttl = min(ttl, l.q.MaxTTL)
	}
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: zone.Name, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: ttl},
		Ns:  mname, Mbox: rname, Serial: store.Serial(zone),
		Refresh: l.SOA.Refresh, Retry: l.SOA.Retry, Expire: l.SOA.Expire, Minttl: l.NegativeTTL,
	}
}

// maxSOATTL bounds how long a negative answer is kept where its TTL was set long: 5 minutes, as in-tree.
const maxSOATTL = 300

// below is a name below that of the zone, or the zone's own where that would be too long for a name (RFC 1035, section
// 2.3.4): nobody could read the record.
func below(name string, zone *Zone) string {
	if zone.Name == "." {
		return name + "."
	}
	name += "." + zone.Name
	if !isName(name) {
		return zone.Name
	}
	return name
}

// ttl is the TTL of a record's answer.
func (l *lookup) ttl(r *skydns.Record) uint32 {
	ttl, own := r.TTL(), true
	if ttl == 0 {
		ttl, own = l.TTL, false
	}
	if r.Lease() != 0 && l.RecordTTL != nil {
		ttl = l.RecordTTL(r, ttl, own)
	}
	if l.q.MaxTTL > 0 {
		ttl = min(ttl, l.q.MaxTTL)
	}
	return ttl
}

func (l *lookup) header(name string, rrtype uint16, r *skydns.Record) dns.RR_Header {
	return dns.RR_Header{Name: name, Rrtype: rrtype, Class: dns.ClassINET, Ttl: l.ttl(r)}
}
