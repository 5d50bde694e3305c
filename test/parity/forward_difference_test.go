package parity

import "github.com/miekg/dns"

// explained: stock says SERVFAIL and nothing else when no upstream can be reached (RFC 8914).
var explained = difference{
	reason: "a SERVFAIL that forward makes says why to clients that know EDNS",
	want: func(_ question, m *dns.Msg) *dns.Msg {
		opt := m.IsEdns0()
		if m.Rcode != dns.RcodeServerFailure || opt == nil {
			return nil
		}
		opt.Option = append(opt.Option, &dns.EDNS0_EDE{
			InfoCode: dns.ExtendedErrorCodeNoReachableAuthority, ExtraText: "upstreams are unreachable",
		})
		return m
	},
}
