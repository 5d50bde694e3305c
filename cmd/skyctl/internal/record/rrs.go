package record

import (
	"net"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// RRs are the resource records that a key holds by itself, as a zone transfer has them: each at the name that it belongs
// to, and nothing for a name above. None for keys that cannot be served, and for stub zones.
func (k Key) RRs() []dns.RR {
	if k.Record == nil || k.Role == Stub {
		return nil
	}
	m := maker{key: k, owner: skydns.NameOf(k.Owner), ttl: k.ttl()}
	r := k.Record
	if rr := r.RR(); rr != nil {
		rr = dns.Copy(rr)
		*rr.Header() = m.header(rr.Header().Rrtype)
		m.rrs = append(m.rrs, rr)
	}
	if text := r.Text(); text != "" {
		m.rrs = append(m.rrs, &dns.TXT{Hdr: m.header(dns.TypeTXT), Txt: skydns.SplitText(text)})
	}
	switch {
	case r.Kind() == skydns.NoHost:
	case k.Role == NS:
		m.nameserver()
	case r.Kind() == skydns.Name:
		m.alias()
	default:
		m.services(m.owner)
		m.address(m.owner)
	}
	return m.rrs
}

func (k Key) ttl() uint32 {
	switch ttl := k.Record.TTL(); {
	case k.TTL > 0 && (ttl == 0 || k.TTL < int64(ttl)):
		return uint32(min(k.TTL, skydns.MaxTTL))
	case ttl == 0:
		return DefaultTTL
	default:
		return ttl
	}
}

// maker makes the records of a key.
type maker struct {
	key   Key
	owner string
	ttl   uint32
	rrs   []dns.RR
}

func (m *maker) header(rrtype uint16) dns.RR_Header {
	return dns.RR_Header{Name: m.owner, Rrtype: rrtype, Class: dns.ClassINET, Ttl: m.ttl}
}

// nameserver makes the NS record of the zone, and the address of its target when the key has one.
func (m *maker) nameserver() {
	target := m.key.Record.Target()
	if target == "" {
		target = skydns.NameOf(skydns.StripPath(m.key.Path, m.key.Record.Strip()))
	}
	m.rrs = append(m.rrs, &dns.NS{Hdr: m.header(dns.TypeNS), Ns: target})
	if m.key.Record.Kind() != skydns.Name {
		m.address(target)
	}
}

func (m *maker) address(owner string) {
	if m.key.Record.Kind() == skydns.IPv4 {
		a := &dns.A{Hdr: m.header(dns.TypeA), A: net.IP(m.key.Record.IP())}
		a.Hdr.Name = owner
		m.rrs = append(m.rrs, a)
		return
	}
	aaaa := &dns.AAAA{Hdr: m.header(dns.TypeAAAA), AAAA: net.IP(m.key.Record.IP())}
	aaaa.Hdr.Name = owner
	m.rrs = append(m.rrs, aaaa)
}

// alias makes the record that a name as host is meant as. The server answers such a key for several types; here it is
// the one that its other fields, or its place, speak for.
func (m *maker) alias() {
	target := m.key.Record.Target()
	switch before := len(m.rrs); {
	case m.services(target) > before:
	case IsReverse(m.key.Owner):
		m.rrs = append(m.rrs, &dns.PTR{Hdr: m.header(dns.TypePTR), Ptr: target})
	default:
		m.rrs = append(m.rrs, &dns.CNAME{Hdr: m.header(dns.TypeCNAME), Target: target})
	}
}

// services makes the MX or SRV record of a key that says by its fields that it is one. It returns how many records there
// are then.
func (m *maker) services(target string) int {
	r := m.key.Record
	priority := r.Priority()
	if priority == 0 {
		priority = 10 // the server's default
	}
	switch {
	case r.Mail():
		m.rrs = append(m.rrs, &dns.MX{Hdr: m.header(dns.TypeMX), Preference: priority, Mx: target})
	case r.Port() != 0 || r.Weight() != 0 || r.Priority() != 0:
		weight := r.Weight()
		if weight == 0 {
			weight = 100
		}
		m.rrs = append(m.rrs, &dns.SRV{
			Hdr: m.header(dns.TypeSRV), Priority: priority, Weight: weight, Port: r.Port(), Target: target,
		})
	}
	return len(m.rrs)
}

// IsReverse tells whether a path is that of an address, all its labels there: RFC 1035, section 3.5, and RFC 3596,
// section 2.5.
func IsReverse(path string) bool {
	if below, ok := strings.CutPrefix(path, "arpa/in-addr/"); ok {
		return strings.Count(below, "/") == net.IPv4len-1
	}
	below, ok := strings.CutPrefix(path, "arpa/ip6/")
	return ok && strings.Count(below, "/") == 2*net.IPv6len-1
}
