package backend

import (
	"net"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// records are those of one type, without CNAME records that a type follows. They are one RRset.
func (l *lookup) records(w *walk, owner string, qtype uint16) []dns.RR {
	var rrs []dns.RR
	if w.sure > 0 && w.qtype == qtype {
		rrs = make([]dns.RR, 0, w.sure)
	}
	var seen distinct[string]
	for i := range w.items {
		it := &w.items[i]
		if rr := it.RR(); rr != nil {
			if rr.Header().Rrtype == qtype && qtype != dns.TypeCNAME && seen.add(rr.String()) {
				rr = dns.Copy(rr)
				*rr.Header() = l.header(owner, qtype, it.Record)
				rrs = append(rrs, rr)
			}
			continue
		}
		switch qtype {
		case dns.TypeA:
			if it.Kind() == skydns.IPv4 && seen.add(it.RawHost()) {
				rrs = append(rrs, l.address(owner, it.Record))
			}
		case dns.TypeAAAA:
			if it.Kind() == skydns.IPv6 && seen.add(it.RawHost()) {
				rrs = append(rrs, l.address(owner, it.Record))
			}
		case dns.TypeTXT:
			if text := it.Text(); text != "" && seen.add(text) {
				rrs = append(rrs, &dns.TXT{Hdr: l.header(owner, qtype, it.Record), Txt: skydns.SplitText(text)})
			}
		case dns.TypePTR:
			if it.Kind() == skydns.Name && seen.add(it.RawHost()) {
				rrs = append(rrs, &dns.PTR{Hdr: l.header(owner, qtype, it.Record), Ptr: it.Target()})
			}
		}
	}
	return oneTTL(rrs)
}

// Records with the bytes of their addresses beside them, so that they are one piece of memory.
type (
	ipv4 struct {
		rr dns.A
		ip [net.IPv4len]byte
	}
	ipv6 struct {
		rr dns.AAAA
		ip [net.IPv6len]byte
	}
)

// address is the A or AAAA record of a record with an address.
func (l *lookup) address(owner string, r *skydns.Record) dns.RR {
	if r.Kind() == skydns.IPv4 {
		a := new(ipv4)
		a.rr.Hdr = l.header(owner, dns.TypeA, r)
		copy(a.ip[:], r.RawHost())
		a.rr.A = a.ip[:]
		return &a.rr
	}
	a := new(ipv6)
	a.rr.Hdr = l.header(owner, dns.TypeAAAA, r)
	copy(a.ip[:], r.RawHost())
	a.rr.AAAA = a.ip[:]
	return &a.rr
}

// oneTTL gives the records of an RRset the least of their TTLs: RFC 2181, section 5.2.
func oneTTL(rrs []dns.RR) []dns.RR {
	if len(rrs) < 2 {
		return rrs
	}
	ttl := rrs[0].Header().Ttl
	for _, rr := range rrs[1:] {
		ttl = min(ttl, rr.Header().Ttl)
	}
	for _, rr := range rrs {
		rr.Header().Ttl = ttl
	}
	return rrs
}

// distinct remembers values. Few are compared one by one, many are looked up.
type distinct[T comparable] struct {
	few  [8]T
	n    int
	many map[T]struct{}
}

// add tells whether v is new.
func (d *distinct[T]) add(v T) bool {
	if d.many != nil {
		if _, ok := d.many[v]; ok {
			return false
		}
		d.many[v] = struct{}{}
		return true
	}
	for _, have := range d.few[:d.n] {
		if have == v {
			return false
		}
	}
	if d.n < len(d.few) {
		d.few[d.n] = v
		d.n++
		return true
	}
	d.many = make(map[T]struct{}, 4*len(d.few))
	for _, have := range d.few {
		d.many[have] = struct{}{}
	}
	d.many[v] = struct{}{}
	return true
}
