package parity

import (
	"encoding/json"
	"net"
	"slices"
	"strings"

	"github.com/coredns/coredns/plugin/etcd/msg"

	"github.com/miekg/dns"
)

// etcdDifferences are what our etcd does otherwise, on purpose. through tells which zone falls through, if any.
func etcdDifferences(zones []string, through string) []difference {
	z := etcdZones{zones: zones}
	return []difference{
		{"a SOA is answered at the apex alone; elsewhere it makes the answer negative", z.soaAtApex},
		{"the apex of a zone exists", z.apexExists},
		{"a name with keys below it exists, whatever is asked (RFC 8020)", z.parentExists},
		{"a name that does not exist falls through, SOA question or not", func(q question, m *dns.Msg) *dns.Msg {
			if q.qtype == dns.TypeSOA && m.Rcode == dns.RcodeNameError && through != "" && dns.IsSubDomain(through, q.name) {
				m.Rcode, m.Authoritative, m.Ns = dns.RcodeServerFailure, false, nil
			}
			return m
		}},
		{"PTR reads the keys below an address, too", func(q question, m *dns.Msg) *dns.Msg {
			if q.qtype == dns.TypePTR && strings.EqualFold(q.name, "3.0.0.10.in-addr.arpa.") && m.Authoritative {
				m.Rcode, m.Ns = dns.RcodeSuccess, nil
				m.Answer = records(q.name+" 300 IN PTR w1.zone.test.", q.name+" 300 IN PTR w2.zone.test.")
			}
			return m
		}},
		{"keys below dns/ answer for their own names alone", z.roles},
		{"an alias of itself is no CNAME record", func(q question, m *dns.Msg) *dns.Msg {
			if q.qtype == dns.TypeCNAME && len(m.Answer) == 1 && strings.EqualFold(q.name, m.Answer[0].(*dns.CNAME).Target) {
				m.Answer = nil
				return z.negative(q.name, m)
			}
			return m
		}},
		{"several targets of a name become one RRset, not several CNAME records (RFC 2181 10.1)", z.merge},
		{"text beside a host is answered", z.textBesideHost},
		{"an alias is answered although its target has no such record (RFC 6604)", z.alias},
		{"a CNAME chain ends with the SOA of the zone where it ends", z.endOfChain},
		{"SRV and MX targets have AAAA glue, too", z.glue},
		noDuplicates,
		{"an RRset has one TTL, the smallest (RFC 2181 5.2)", oneTTL},
	}
}

// etcdZones answers from the records of the test as the rules above say, without any of our code.
type etcdZones struct{ zones []string }

func (z etcdZones) zone(name string) string {
	best := ""
	for _, zone := range z.zones {
		if dns.IsSubDomain(zone, name) && len(zone) > len(best) {
			best = zone
		}
	}
	return best
}

func (z etcdZones) negative(name string, m *dns.Msg) *dns.Msg {
	return withSOA(question{name: name}, m, z.zones, 30)
}

func (z etcdZones) soaAtApex(q question, m *dns.Msg) *dns.Msg {
	if q.qtype != dns.TypeSOA || contains(z.zones, q.name) || len(m.Answer) == 0 {
		return nil
	}
	m.Answer, m.Ns = nil, m.Answer
	if !exists(q.name) {
		m.Rcode = dns.RcodeNameError
	}
	return m
}

func (z etcdZones) apexExists(q question, m *dns.Msg) *dns.Msg {
	if contains(z.zones, q.name) && m.Rcode == dns.RcodeNameError {
		m.Rcode = dns.RcodeSuccess
	}
	return m
}

func (z etcdZones) parentExists(q question, m *dns.Msg) *dns.Msg {
	if (q.qtype == dns.TypeCNAME || q.qtype == dns.TypePTR) && m.Rcode == dns.RcodeNameError && exists(q.name) {
		m.Rcode = dns.RcodeSuccess
	}
	return m
}

// roles: dns.ZONE itself has no records, and no name above it has those below it, where ZONE is served as a zone.
func (z etcdZones) roles(q question, m *dns.Msg) *dns.Msg {
	name := strings.ToLower(q.name)
	if !contains(z.zones, "zone.test.") {
		return nil // zone.test is a name like any other then, and so is dns.zone.test
	}
	if strings.Contains(name, "ns.dns.") || contains(z.zones, name) && q.qtype == dns.TypeNS || q.qtype == dns.TypeSOA {
		return nil
	}
	if strings.HasPrefix(name, "dns.") && z.zone(name) == name[len("dns."):] {
		m.Answer, m.Extra = nil, slices.DeleteFunc(m.Extra, func(rr dns.RR) bool { return rr.Header().Rrtype != dns.TypeOPT })
		return z.negative(name, m)
	}
	hidden := func(rr dns.RR) bool {
		text := rr.String()
		// dns/apex is the apex's own data, dns/ns is nobody's but the NS RRset's.
		return strings.Contains(text, ".ns.dns.") || strings.HasSuffix(text, "\t10.0.9.1") || strings.HasSuffix(text, "::9") ||
			!contains(z.zones, name) && (strings.Contains(text, ".apex.dns.") || strings.HasSuffix(text, "\t10.0.9.9"))
	}
	if !contains(wide, name) {
		return nil
	}
	m.Answer, m.Extra = slices.DeleteFunc(m.Answer, hidden), slices.DeleteFunc(m.Extra, hidden)
	return m
}

// wide are the names that a whole zone answers for.
var wide = []string{"test.", "zone.test.", "*.zone.test."}

func (z etcdZones) merge(q question, m *dns.Msg) *dns.Msg {
	aliases, own := 0, 0
	for _, rr := range m.Answer {
		switch {
		case !strings.EqualFold(rr.Header().Name, q.name):
		case rr.Header().Rrtype == dns.TypeCNAME:
			aliases++
		default:
			own++
		}
	}
	if q.qtype == dns.TypeCNAME || aliases == 0 || aliases+own < 2 && !strings.EqualFold(q.name, "named.zone.test.") {
		return nil
	}
	var first, merged []dns.RR
	for _, rr := range m.Answer {
		switch {
		case rr.Header().Rrtype == dns.TypeCNAME:
			continue
		case strings.EqualFold(rr.Header().Name, q.name):
			first = append(first, rr)
		default:
			rr.Header().Name = q.name
			merged = append(merged, rr)
		}
	}
	m.Answer = unique(append(first, merged...))
	if len(m.Answer) == 0 {
		return z.negative(q.name, m)
	}
	return m
}

func (z etcdZones) textBesideHost(q question, m *dns.Msg) *dns.Msg {
	if q.qtype == dns.TypeTXT && strings.EqualFold(q.name, "both.zone.test.") {
		m.Answer, m.Ns = records(q.name+` 300 IN TXT "beside"`), nil
	}
	if q.qtype == dns.TypeTXT && contains(wide, q.name) && len(m.Answer) > 0 {
		m.Answer = append(records(q.name+` 300 IN TXT "beside"`), m.Answer...)
	}
	return m
}

// alias puts the chain of CNAME records before a NODATA of a name that is an alias.
func (z etcdZones) alias(q question, m *dns.Msg) *dns.Msg {
	switch q.qtype {
	case dns.TypeCNAME, dns.TypeSRV, dns.TypeMX, dns.TypeNS, dns.TypeSOA, dns.TypePTR:
		return nil
	}
	if len(m.Answer) > 0 || m.Rcode != dns.RcodeSuccess {
		return nil
	}
	owner, seen := q.name, map[string]bool{}
	for {
		r, ok := recordsOf(owner)
		if !ok || net.ParseIP(r.Host) != nil || r.Host == "" || strings.EqualFold(dns.Fqdn(r.Host), owner) {
			break
		}
		if seen[r.Host] {
			m.Ns = nil // a loop has no end, and so no SOA
			break
		}
		seen[r.Host] = true
		m.Answer = append(m.Answer, &dns.CNAME{
			Hdr:    dns.RR_Header{Name: owner, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: r.ttl()},
			Target: dns.Fqdn(r.Host),
		})
		owner = dns.Fqdn(r.Host)
	}
	if len(m.Answer) == 0 {
		return nil
	}
	return m
}

func (z etcdZones) endOfChain(q question, m *dns.Msg) *dns.Msg {
	if len(m.Answer) == 0 || q.qtype == dns.TypeCNAME {
		return nil
	}
	last, ok := m.Answer[len(m.Answer)-1].(*dns.CNAME)
	if !ok || len(m.Answer) > 1 && len(m.Ns) == 0 || z.zone(last.Target) == "" {
		return nil
	}
	return z.negative(last.Target, m)
}

// glue adds the AAAA records of the targets after their other addresses.
func (z etcdZones) glue(q question, m *dns.Msg) *dns.Msg {
	if q.qtype != dns.TypeSRV && q.qtype != dns.TypeMX {
		return nil
	}
	for _, rr := range m.Answer {
		target := ""
		switch rr := rr.(type) {
		case *dns.SRV:
			target = rr.Target
		case *dns.MX:
			target = rr.Mx
		}
		for _, a := range etcdAAAA[target] {
			if !slices.ContainsFunc(m.Extra, func(rr dns.RR) bool { return dns.IsDuplicate(rr, a) }) {
				m.Extra = append(m.Extra, dns.Copy(a))
			}
		}
	}
	return m
}

// etcdAAAA has, for each name that is a target of others, the AAAA records at the end of its chain.
var etcdAAAA = map[string][]dns.RR{
	"aaaa.zone.test.":   records("aaaa.zone.test. 300 IN AAAA 2001:db8::1"),
	"chain2.zone.test.": records("many.zone.test. 300 IN AAAA 2001:db8::3"),
	"chain3.zone.test.": records("many.zone.test. 300 IN AAAA 2001:db8::3"),
	"many.zone.test.":   records("many.zone.test. 300 IN AAAA 2001:db8::3"),
}

func oneTTL(_ question, m *dns.Msg) *dns.Msg {
	for _, section := range [][]dns.RR{m.Answer, m.Extra} {
		for _, a := range section {
			for _, b := range section {
				if a.Header().Name == b.Header().Name && a.Header().Rrtype == b.Header().Rrtype {
					b.Header().Ttl = min(a.Header().Ttl, b.Header().Ttl)
				}
			}
		}
	}
	return m
}

// exists tells whether a record of the test lies at the name or below it. A query wildcard exists where its parent does.
func exists(name string) bool {
	path := msg.Path(strings.ToLower(name), "skydns")
	for _, wildcard := range []string{"/*", "/any"} {
		path, _, _ = strings.Cut(path, wildcard)
	}
	return slices.ContainsFunc(strings.Split(etcdRecords, "\n"), func(line string) bool {
		key, _, _ := strings.Cut(line, " ")
		return key == path || strings.HasPrefix(key, path+"/")
	})
}

type record struct {
	Host string
	TTL  uint32
}

func (r record) ttl() uint32 {
	if r.TTL == 0 {
		return 300
	}
	return r.TTL
}

// recordsOf returns the record whose key is that of the name.
func recordsOf(name string) (record, bool) {
	path := msg.Path(strings.ToLower(name), "skydns")
	for _, line := range strings.Split(etcdRecords, "\n") {
		if key, value, _ := strings.Cut(line, " "); key == path {
			var r record
			if err := json.Unmarshal([]byte(value), &r); err != nil {
				panic(err) // the test's own text
			}
			return r, true
		}
	}
	return record{}, false
}
