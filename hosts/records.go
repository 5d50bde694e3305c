package hosts

import (
	"net/netip"
	"slices"

	"github.com/trident-dns/trident/hosts/internal/table"
	"github.com/trident-dns/trident/hosts/internal/wire"

	"github.com/miekg/dns"
)

// addressRecords collects the A or AAAA records of one owner name, none twice (RFC 2181 section 5), and at most
// table.MaxAddrs of them however many tables there are.
type addressRecords struct {
	owner string
	ttl   uint32
	qtype uint16 // typeA, typeAAAA, or another one to collect nothing
	list  []dns.RR
	more  bool                    // there are others, beyond the limit
	seen  map[netip.Addr]struct{} // the first addresses of list; nil as long as few are to be compared
}

// fewAddrs is how many addresses are compared one by one rather than looked up, which takes memory.
const fewAddrs = 8

// wantsAny reports whether there is anything to collect.
func (a *addressRecords) wantsAny() bool { return a.qtype == typeA || a.qtype == typeAAAA }

// add collects the addresses that ref stands for in t.
func (a *addressRecords) add(t *table.Table, ref table.Ref) {
	if !a.wantsAny() || a.more {
		return
	}
	others := a.list // t itself has no address of a name twice
	if len(others) > fewAddrs {
		a.remember(others)
	}
	for i := range t.Addrs(ref) {
		ip := t.Addr(ref, i)
		if ip.Is4() != (a.qtype == typeA) || a.has(others, ip) {
			continue
		}
		if len(a.list) == table.MaxAddrs {
			a.more = true
			return
		}
		a.list = append(a.list, a.record(ip))
	}
}

// remember makes the addresses of list, which starts with those that are remembered already, quick to find.
func (a *addressRecords) remember(list []dns.RR) {
	if a.seen == nil {
		a.seen = make(map[netip.Addr]struct{}, len(list))
	}
	for _, rr := range list[len(a.seen):] {
		a.seen[addrOf(rr)] = struct{}{}
	}
}

// has reports whether ip is among others, which add has had remembered if they are many.
func (a *addressRecords) has(others []dns.RR, ip netip.Addr) bool {
	if len(others) > fewAddrs {
		_, ok := a.seen[ip]
		return ok
	}
	return slices.ContainsFunc(others, func(rr dns.RR) bool { return addrOf(rr) == ip })
}

// An address in the same piece of memory as its record.
type (
	aRecord struct {
		dns.A
		ip [4]byte
	}
	aaaaRecord struct {
		dns.AAAA
		ip [16]byte
	}
)

func (a *addressRecords) record(ip netip.Addr) dns.RR {
	hdr := dns.RR_Header{Name: a.owner, Rrtype: a.qtype, Class: dns.ClassINET, Ttl: a.ttl}
	if ip.Is4() {
		r := &aRecord{ip: ip.As4()}
		r.A = dns.A{Hdr: hdr, A: r.ip[:]}
		return &r.A
	}
	r := &aaaaRecord{ip: ip.As16()}
	r.AAAA = dns.AAAA{Hdr: hdr, AAAA: r.ip[:]}
	return &r.AAAA
}

// addrOf returns the address in a record that addressRecords has made.
func addrOf(rr dns.RR) (ip netip.Addr) {
	switch rr := rr.(type) {
	case *dns.A:
		ip, _ = netip.AddrFromSlice(rr.A)
	case *dns.AAAA:
		ip, _ = netip.AddrFromSlice(rr.AAAA)
	}
	return ip
}

// pointerRecords returns PTR records of one owner name for names in wire format. There may be many of them: they take
// three pieces of memory.
func pointerRecords(owner string, ttl uint32, names [][]byte) []dns.RR {
	size := 0
	for _, name := range names {
		size += len(name) // as long as its text, without escapes
	}
	text := make([]byte, 0, size)
	ends := make([]int, 0, maxPTR)
	for _, name := range names {
		text = wire.AppendText(text, name)
		ends = append(ends, len(text))
	}
	all := string(text)
	records, list := make([]dns.PTR, len(names)), make([]dns.RR, len(names))
	start := 0
	for i, end := range ends {
		records[i] = dns.PTR{
			Hdr: dns.RR_Header{Name: owner, Rrtype: dns.TypePTR, Class: dns.ClassINET, Ttl: ttl},
			Ptr: all[start:end],
		}
		list[i] = &records[i]
		start = end
	}
	return list
}
