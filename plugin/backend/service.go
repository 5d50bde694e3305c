package backend

import (
	"math"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// defaultWeight is the weight of a record without one: SkyDNS's.
const defaultWeight = 100

// services answers SRV and MX, whose records have targets, with the addresses of those.
func (l *lookup) services(zone *Zone, store Store, at place) {
	w := l.gather(zone, store, at, l.q.Type, false)
	g := glue{parts: make([]part, 0, len(w.items))}
	if l.q.Type == dns.TypeSRV {
		l.srv(w, &g)
	} else {
		l.mx(w, &g)
	}
	if len(l.res.Answer) == 0 {
		l.res.Missing = !w.found
		l.negative(zone, store, w.found || at.path == zone.Path)
		return
	}
	oneTTL(l.res.Answer)
	l.res.Extra = l.addresses(&g)
}

// srv makes the SRV records. Weights become shares of a hundred among the records of the same priority, at least 1: as
// SkyDNS computes them, also where two records turn out to be the same.
func (l *lookup) srv(w *walk, g *glue) {
	sums := make(map[uint16]int, 1)
	for i := range w.items {
		if r := w.items[i].Record; r.RR() == nil {
			sums[l.priority(r)] += weight(r)
		}
	}
	l.res.Answer = make([]dns.RR, 0, len(w.items))
	var seen, ports distinct[service]
	for _, it := range w.items {
		if rr, ok := it.RR().(*dns.SRV); ok {
			if seen.add(serviceOf(rr)) {
				rr = dns.Copy(rr).(*dns.SRV)
				rr.Hdr = l.header(l.q.Name, dns.TypeSRV, it.Record)
				l.res.Answer = append(l.res.Answer, rr)
				g.name(rr.Target)
			}
			continue
		}
		if it.Kind() == skydns.NoHost {
			continue
		}
		priority := l.priority(it.Record)
		// In this order of operations the result is that of the in-tree plugin to the last bit.
		share := 100.0 / float64(sums[priority]) * float64(weight(it.Record))
		srv := &dns.SRV{
			Hdr:      l.header(l.q.Name, dns.TypeSRV, it.Record),
			Priority: priority, Weight: max(uint16(math.Floor(share)), 1), Port: it.Port(),
		}
		if it.Kind() == skydns.Name {
			srv.Target = it.Target()
			if seen.add(serviceOf(srv)) {
				l.res.Answer = append(l.res.Answer, srv)
				g.name(srv.Target)
			}
			continue
		}
		target, ok := w.targetOf(it)
		if !ok {
			continue
		}
		srv.Target = target
		// As in-tree: the address records of a name are one service, whatever their priorities and weights.
		if ports.add(service{target: srv.Target, port: srv.Port}) && seen.add(serviceOf(srv)) {
			l.res.Answer = append(l.res.Answer, srv)
		}
		g.rr(l.address(srv.Target, it.Record))
	}
}

// mx makes the MX records.
func (l *lookup) mx(w *walk, g *glue) {
	var seen distinct[service]
	for _, it := range w.items {
		if rr, ok := it.RR().(*dns.MX); ok {
			if seen.add(service{target: skydns.Lower(rr.Mx), priority: rr.Preference}) {
				rr = dns.Copy(rr).(*dns.MX)
				rr.Hdr = l.header(l.q.Name, dns.TypeMX, it.Record)
				l.res.Answer = append(l.res.Answer, rr)
				g.name(rr.Mx)
			}
			continue
		}
		if !it.Mail() || it.Kind() == skydns.NoHost {
			continue
		}
		mx := &dns.MX{Hdr: l.header(l.q.Name, dns.TypeMX, it.Record), Preference: l.priority(it.Record)}
		if it.Kind() == skydns.Name {
			mx.Mx = it.Target()
			g.name(mx.Mx)
		} else {
			target, ok := w.targetOf(it)
			if !ok {
				continue
			}
			mx.Mx = target
			g.rr(l.address(mx.Mx, it.Record))
		}
		if seen.add(service{target: skydns.Lower(mx.Mx), priority: mx.Preference}) {
			l.res.Answer = append(l.res.Answer, mx)
		}
	}
}

// nameservers answers NS for the apex of a zone, from dns/ns and the records of type NS of the apex.
func (l *lookup) nameservers(zone *Zone, store Store) {
	w := l.walk(store, place{path: zone.ns}, dns.TypeNS, MaxRecords)
	w.tree(zone.ns)
	l.res.Missing = !w.found
	w.tree(zone.apex)
	w.owned(zone.Path)
	w.items = group(w.items)

	var g glue
	var seen distinct[string]
	for _, it := range w.items {
		target := ""
		switch rr := it.RR().(type) {
		case *dns.NS:
			target = rr.Ns
			g.name(target)
		case nil:
			switch {
			case !IsWithin(it.path, zone.ns) || it.Kind() == skydns.NoHost:
				continue
			case it.Kind() == skydns.Name:
				target = it.Target()
				g.name(target)
			default:
				var ok bool
				if target, ok = w.targetOf(it); !ok {
					continue
				}
				g.rr(l.address(target, it.Record))
			}
		default:
			continue
		}
		if seen.add(skydns.Lower(target)) {
			ns := &dns.NS{Hdr: l.header(l.q.Name, dns.TypeNS, it.Record), Ns: target}
			l.res.Answer = append(l.res.Answer, ns)
		}
	}
	if len(l.res.Answer) == 0 {
		l.negative(zone, store, true)
		return
	}
	l.res.Missing = false
	oneTTL(l.res.Answer)
	l.res.Extra = l.addresses(&g)
}

func (l *lookup) priority(r *skydns.Record) uint16 {
	if r.Priority() == 0 {
		return l.Priority
	}
	return r.Priority()
}

func weight(r *skydns.Record) int {
	if r.Weight() == 0 {
		return defaultWeight
	}
	return int(r.Weight())
}

// service tells the records of services apart.
type service struct {
	target                 string // lower-cased
	port, priority, weight uint16
}

func serviceOf(rr *dns.SRV) service {
	return service{skydns.Lower(rr.Target), rr.Port, rr.Priority, rr.Weight}
}
