package plan

import (
	"net"
	"net/netip"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// Reverse is what a change of addresses means for PTR records.
type Reverse struct {
	// Come are the PTR records of Wants, none twice.
	Come  []Want
	stays map[string]bool // pairs of reverse name and name that come
	left  map[string]bool // pairs that lost their address
	names map[string]bool // reverse names of either
}

// NewReverse looks at a change: the addresses of gone are no longer there, and those of wants are.
func NewReverse(gone []record.Key, wants []Want) *Reverse {
	r := &Reverse{stays: map[string]bool{}, left: map[string]bool{}, names: map[string]bool{}}
	for _, w := range wants {
		addr, ok := addressOf(w.RR)
		if !ok || w.Alias {
			continue
		}
		back, name := record.ReverseName(addr), dns.CanonicalName(w.RR.Header().Name)
		r.names[back] = true
		if !r.stays[back+" "+name] {
			r.stays[back+" "+name] = true
			ptr := &dns.PTR{Hdr: dns.RR_Header{Name: back, Class: dns.ClassINET, Rrtype: dns.TypePTR}, Ptr: name}
			r.Come = append(r.Come, Want{RR: ptr, TTL: w.TTL, Lease: w.Lease, Origin: w.Origin})
		}
	}
	for _, k := range gone {
		for _, rr := range k.RRs() {
			if addr, ok := addressOf(rr); ok {
				back := record.ReverseName(addr)
				r.names[back] = true
				r.left[back+" "+dns.CanonicalName(rr.Header().Name)] = true
			}
		}
	}
	return r
}

// Names are the reverse names whose keys Changes has to be told of.
func (r *Reverse) Names() []string {
	names := make([]string, 0, len(r.names))
	for name := range r.names {
		names = append(names, name)
	}
	return names
}

// Changes are what keeps PTR records in step, have being the keys of Names.
func (r *Reverse) Changes(prefix skydns.Prefix, have []record.Key) (changes []store.Change, same int) {
	arranger := Arranger{Prefix: prefix, Have: have}
	entries, _ := arranger.Arrange(r.Come) // a PTR record of two names that exist is never refused
	old := make([]store.Entry, len(have))
	for i, k := range have {
		old[i] = k.Entry
	}
	return Diff(old, entries, func(e store.Entry) bool { return r.Doomed(record.Read(prefix, e)) })
}

// Doomed tells whether a key is a PTR record that leads back to a name that no longer has the address.
func (r *Reverse) Doomed(k record.Key) bool {
	for _, rr := range k.RRs() {
		if ptr, ok := rr.(*dns.PTR); ok {
			pair := skydns.NameOf(k.Owner) + " " + dns.CanonicalName(ptr.Ptr)
			return r.left[pair] && !r.stays[pair]
		}
	}
	return false
}

func addressOf(rr dns.RR) (netip.Addr, bool) {
	var ip net.IP
	switch rr := rr.(type) {
	case *dns.A:
		ip = rr.A
	case *dns.AAAA:
		ip = rr.AAAA
	}
	addr, ok := netip.AddrFromSlice(ip)
	return addr.Unmap(), ok
}
