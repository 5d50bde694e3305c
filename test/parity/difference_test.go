package parity

import (
	"slices"
	"strings"

	"github.com/coredns/coredns/plugin/pkg/dnsutil"

	"github.com/miekg/dns"
)

// The differences that more than one plugin has. Each takes what it must know of the Corefile.

// ownCase: RFC 1034 3.1 asks to preserve case; clients that mix it (0x20) compare owner names with what they asked.
// Stock's hosts and, where stock folded the name before it looked, its etcd answer in lower case.
var ownCase = difference{
	reason: "the answer has the question's own case",
	want: func(q question, m *dns.Msg) *dns.Msg {
		for _, rr := range m.Answer {
			if strings.EqualFold(rr.Header().Name, q.name) {
				rr.Header().Name = q.name
			}
		}
		return m
	},
}

// negative adds the SOA that RFC 2308 wants in a negative answer, so that resolvers can cache it.
func negative(zones []string, ttl uint32) difference {
	return difference{
		reason: "NODATA carries a SOA",
		want: func(q question, m *dns.Msg) *dns.Msg {
			if m.Rcode != dns.RcodeSuccess || len(m.Answer) > 0 || len(m.Ns) > 0 {
				return nil
			}
			return withSOA(q, m, zones, ttl)
		},
	}
}

// withSOA puts the SOA of the longest zone that holds the question's name into the authority section.
func withSOA(q question, m *dns.Msg, zones []string, ttl uint32) *dns.Msg {
	zone := ""
	for _, z := range zones {
		if dns.IsSubDomain(z, q.name) && len(z) > len(zone) {
			zone = z
		}
	}
	if zone == "" {
		return nil
	}
	m.Authoritative = true
	m.Ns = []dns.RR{&dns.SOA{
		Hdr:     dns.RR_Header{Name: zone, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: ttl},
		Ns:      dnsutil.Join("ns.dns", zone),
		Mbox:    dnsutil.Join("hostmaster", zone),
		Refresh: 7200, Retry: 1800, Expire: 86400, Minttl: ttl,
	}}
	return m
}

// onlyParents: a name that only others lie below exists (RFC 8020, RFC 4592 2.2.2). Stock answers rcode.
func onlyParents(rcode int, zones []string, ttl uint32, names ...string) difference {
	return difference{
		reason: "a name that exists only as the parent of others is NODATA",
		want: func(q question, m *dns.Msg) *dns.Msg {
			if m.Rcode != rcode || !contains(names, q.name) {
				return nil
			}
			m.Rcode = dns.RcodeSuccess
			return withSOA(q, m, zones, ttl)
		},
	}
}

// contains tells whether name is one of names, in whatever case.
func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// noDuplicates: an RRset is a set (RFC 2181 5).
var noDuplicates = difference{
	reason: "no record is there twice",
	want: func(_ question, m *dns.Msg) *dns.Msg {
		m.Answer, m.Extra = unique(m.Answer), unique(m.Extra)
		return m
	},
}

func unique(rrs []dns.RR) []dns.RR {
	var kept []dns.RR
	for _, rr := range rrs {
		if !slices.ContainsFunc(kept, func(k dns.RR) bool { return dns.IsDuplicate(k, rr) }) {
			kept = append(kept, rr)
		}
	}
	return kept
}
