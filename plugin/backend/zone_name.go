package backend

import (
	"slices"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// items are the records that belong to owner, as far as a message can carry them.
func (c Copy) items(owner string) []item {
	var items []item
	add := func(path string, rec *skydns.Record) bool {
		if c.ownerOf(path, rec) == owner {
			items = append(items, item{path, rec})
		}
		return len(items) < MaxRecords
	}
	c.store.Ascend(owner, func(path string, rec *skydns.Record) bool { return path == owner && add(path, rec) })
	c.store.Owned(owner, add)
	return group(items)
}

// below are the records of a name and all that are below it.
func (c Copy) below(top string) []item {
	var items []item
	c.store.Ascend(top, func(path string, rec *skydns.Record) bool {
		if IsWithin(path, top) {
			items = append(items, item{path, rec})
		}
		// Paths that begin with that of the name and a byte before the slash lie between it and what is below.
		return len(items) < MaxRecords && len(path) >= len(top) && path[:len(top)] == top
	})
	return group(items)
}

// apex returns the records of the zone's own name. As in answers, addresses are those of dns/apex if there are any keys.
func (c Copy) apex() []dns.RR {
	own, role := c.items(c.zone.Path), c.below(c.zone.apex)
	all := group(slices.Concat(own, role))
	addresses := all
	if len(role) > 0 && c.r.Mode == SkyDNS {
		addresses = role
	}
	l := c.lookup(c.zone.Name)
	l.q.Type = dns.TypeNS
	l.nameservers(c.zone, c.store)
	rrs := l.res.Answer
	if len(rrs) == 0 {
		rrs = c.standIn(c.zone)
	}
	rrs = append(rrs, c.typed(c.zone.Path, addresses, dns.TypeA)...)
	rrs = append(rrs, c.typed(c.zone.Path, addresses, dns.TypeAAAA)...)
	for _, rr := range c.make(c.zone.Path, all, false) {
		switch rr.Header().Rrtype {
		case dns.TypeNS, dns.TypeA, dns.TypeAAAA:
		default:
			rrs = append(rrs, rr)
		}
	}
	return rrs
}

// typed returns the records of one type that items make at owner.
func (c Copy) typed(owner string, items []item, rrtype uint16) []dns.RR {
	name := skydns.NameOf(owner)
	return c.lookup(name).records(&walk{path: owner, items: items}, name, rrtype)
}

// make returns the records that items make at owner. alias tells whether one of them may be a CNAME record.
func (c Copy) make(owner string, items []item, alias bool) []dns.RR {
	types := []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT}
	if isReverse(owner) {
		types = append(types, dns.TypePTR)
	}
	for _, it := range items {
		if rr := it.RR(); rr != nil {
			switch t := rr.Header().Rrtype; t {
			case dns.TypeSRV, dns.TypeMX, dns.TypeCNAME:
			default:
				if !slices.Contains(types, t) {
					types = append(types, t)
				}
			}
		}
	}
	var rrs []dns.RR
	for _, t := range types {
		rrs = append(rrs, c.typed(owner, items, t)...)
	}
	rrs = append(rrs, c.services(owner, items)...)
	if len(rrs) > 0 || !alias {
		return rrs
	}
	w := walk{path: owner, items: items}
	if a := w.aliases(); a.single {
		l := c.lookup(skydns.NameOf(owner))
		rrs = append(rrs, &dns.CNAME{Hdr: l.header(l.q.Name, dns.TypeCNAME, a.via[0]), Target: a.targets[0]})
	}
	return rrs
}

// services returns the SRV and MX records that items make at owner. One without a port says nothing that the address
// does not: but for the root as target, which says that there is no such service (RFC 2782).
func (c Copy) services(owner string, items []item) []dns.RR {
	w := &walk{path: owner, items: items}
	srv, mx := c.lookup(skydns.NameOf(owner)), c.lookup(skydns.NameOf(owner))
	srv.srv(w, &glue{})
	mx.mx(w, &glue{})
	rrs := slices.DeleteFunc(srv.res.Answer, func(rr dns.RR) bool {
		s, ok := rr.(*dns.SRV)
		return ok && s.Port == 0 && s.Target != "."
	})
	return append(oneTTL(rrs), oneTTL(mx.res.Answer)...)
}
