package backend

import (
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// findCut returns the path of the highest name below the apex, at or above path, that has NS records. The parent side of
// a cut answers DS: RFC 4035, section 3.1.4.1.
func findCut(v View, zone *Zone, store Store, path string, qtype uint16) (string, bool) {
	if !store.HasCuts() {
		return "", false
	}
	top, ok := "", false
	for p := path; isBelow(p, zone.Path); p = parent(p) {
		if isCut(v, store, p) && !(p == path && qtype == dns.TypeDS) {
			top, ok = p, true
		}
	}
	return top, ok
}

// isCut tells whether the name at path p is delegated. Records of type NS that have a role are the zone's own.
func isCut(v View, store Store, p string) bool { return store.Cut(p) && role(v, p) == "" }

// refer answers with the name servers of a delegated zone, its DS records, and the addresses that are kept here.
func (l *lookup) refer(zone *Zone, store Store, cut string) {
	l.res.Authoritative = false
	owner := skydns.NameOf(cut)
	ns := l.walk(store, place{path: cut}, dns.TypeNS, MaxRecords)
	ns.owned(cut)
	var g glue
	l.res.Ns = l.records(ns, owner, dns.TypeNS)
	for _, rr := range l.res.Ns {
		if rr, ok := rr.(*dns.NS); ok && dns.IsSubDomain(zone.Name, rr.Ns) {
			g.name(rr.Ns)
		}
	}
	ds := l.walk(store, place{path: cut}, dns.TypeDS, MaxRecords)
	ds.owned(cut)
	l.res.Ns = append(l.res.Ns, l.records(ds, owner, dns.TypeDS)...)
	l.q.Outside = nil // a referral is made of what is here
	l.res.Extra = l.addresses(&g)
}
