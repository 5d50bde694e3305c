package backend

import (
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// Copy is one state of a zone as a zone transfer tells it: each record at the name of its key (in mode Exact at the name
// that it belongs to), and nothing that is put together for an answer. It is used by one goroutine.
//
// What a zone file can say differs from what questions are answered: a record with a name for a host is a CNAME record
// when its name has nothing else, and a SRV record when it has a port; SRV records without a port are left out. What is
// below a delegated name or another zone is there as far as it is glue. A zone without name servers has the MNAME of its
// SOA record for one, since no server takes a zone without.
type Copy struct {
	r     *Resolver
	view  View
	zone  *Zone
	store Store
}

// Copy returns that of a zone. store has the zone's records, and view tells which other zones are served.
func (r *Resolver) Copy(view View, zone *Zone, store Store) Copy { return Copy{r, view, zone, store} }

// SOA is the SOA record.
func (c Copy) SOA() dns.RR { return c.lookup(c.zone.Name).soa(c.zone, c.store) }

func (c Copy) lookup(owner string) *lookup {
	l := &lookup{
		Resolver: c.r, view: c.view, q: Question{Name: owner}, room: MaxRecords, steps: allowance{question: new(Steps)},
	}
	l.first.bind()
	return l
}

// Records calls yield with the records of one name after the other, but for the SOA record, until yield returns false.
// Those of the zone's own name come first.
func (c Copy) Records(yield func([]dns.RR) bool) {
	if !yield(c.apex()) {
		return
	}
	children := map[string]bool{}
	last := ""
	top := c.zone.Path + "/"
	if c.zone.Path == "" {
		top = ""
	}
	c.store.Ascend(top, func(path string, rec *skydns.Record) bool {
		if !strings.HasPrefix(path, top) {
			return false
		}
		if child, ok := c.child(path); ok && !children[child] {
			children[child] = true
			if !yield(c.delegation(child)) {
				return false
			}
		}
		owner := c.ownerOf(path, rec)
		if owner == last || !c.isPlain(owner) || owner != path && !c.isFirst(owner, path) {
			return true
		}
		last = owner
		rrs := c.name(owner)
		return len(rrs) == 0 || yield(rrs)
	})
}

// isPlain tells whether a path is that of a name below the zone's own, and of no other zone.
func (c Copy) isPlain(path string) bool {
	_, child := c.child(path)
	return !child && isBelow(path, c.zone.Path)
}

// ownerOf is the path of the name that a record belongs to.
func (c Copy) ownerOf(path string, rec *skydns.Record) string {
	if c.r.Mode == Exact || isOfCut(rec) {
		return skydns.StripPath(path, rec.Strip())
	}
	return path
}

// isOfCut tells the records that delegate a name, in either mode: they belong to the name that is left after targetstrip.
func isOfCut(rec *skydns.Record) bool {
	rr := rec.RR()
	return rr != nil && (rr.Header().Rrtype == dns.TypeNS || rr.Header().Rrtype == dns.TypeDS)
}

// isFirst tells whether the record at path is the one for which those of owner are told: the first of those that came to
// it by targetstrip, when none lies at owner itself.
func (c Copy) isFirst(owner, path string) bool {
	first := true
	c.store.Ascend(owner, func(p string, rec *skydns.Record) bool {
		first = p != owner || c.ownerOf(p, rec) != owner
		return p == owner && first
	})
	if !first {
		return false
	}
	c.store.Owned(owner, func(p string, rec *skydns.Record) bool {
		if c.ownerOf(p, rec) != owner {
			return true
		}
		first = p == path
		return false
	})
	return first
}

// child is the path of the highest other zone that path belongs to, between it and the zone.
func (c Copy) child(path string) (top string, ok bool) {
	for p := path; isBelow(p, c.zone.Path); p = parent(p) {
		if c.view.IsZone(p) {
			top, ok = p, true
		}
	}
	return top, ok
}

// name returns the records of a name below the zone's own, all that the zone has the last word about.
func (c Copy) name(owner string) []dns.RR {
	items := c.items(owner)
	cut, ok := findCut(c.view, c.zone, c.store, owner, dns.TypeNone)
	switch {
	case !ok:
		return c.make(owner, items, true)
	case cut == owner:
		rrs := c.typed(owner, items, dns.TypeNS)
		rrs = append(rrs, c.typed(owner, items, dns.TypeDS)...)
		return append(rrs, c.glue(cut, owner, items)...)
	}
	return c.glue(cut, owner, items)
}

// glue returns the addresses of a name at or below a cut when it is one of the name servers there.
func (c Copy) glue(cut, owner string, items []item) []dns.RR {
	name := skydns.NameOf(owner)
	for _, rr := range c.typed(cut, c.items(cut), dns.TypeNS) {
		if equalNames(rr.(*dns.NS).Ns, name) {
			return append(c.typed(owner, items, dns.TypeA), c.typed(owner, items, dns.TypeAAAA)...)
		}
	}
	return nil
}

// delegation returns the name servers of a zone below this one that is served as well, with their addresses there.
func (c Copy) delegation(child string) []dns.RR {
	zone, store := c.view.Zone(skydns.NameOf(child))
	if zone == nil || zone.Path != child {
		return nil
	}
	l := c.lookup(zone.Name)
	l.q.Type = dns.TypeNS
	l.nameservers(zone, store)
	rrs := l.res.Answer
	if len(rrs) == 0 {
		return c.standIn(zone)
	}
	for _, rr := range l.res.Extra {
		if dns.IsSubDomain(zone.Name, rr.Header().Name) {
			rrs = append(rrs, rr)
		}
	}
	return rrs
}

// standIn is the name server of a zone that has none.
func (c Copy) standIn(zone *Zone) []dns.RR {
	soa := c.lookup(zone.Name).soa(zone, c.store).(*dns.SOA)
	return []dns.RR{&dns.NS{
		Hdr: dns.RR_Header{Name: zone.Name, Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: c.r.TTL}, Ns: soa.Ns,
	}}
}
