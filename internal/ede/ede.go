// Package ede says why a reply is what it is: extended DNS errors (RFC 8914).
//
// The text is for people and goes to whoever asked, so it names no address, file or name of the server's own.
package ede

import "github.com/miekg/dns"

// Explain adds an extended error to m, the reply to r, when whoever asked knows EDNS (RFC 6891, section 7). m must not
// have an OPT record yet. Size and DO bit are filled in by CoreDNS when the reply is written.
func Explain(r, m *dns.Msg, code uint16, text string) {
	if r.IsEdns0() == nil {
		return
	}
	m.Extra = append(m.Extra, &dns.OPT{
		Hdr:    dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT},
		Option: []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: code, ExtraText: text}},
	})
}

// Fail is the end of a handler that cannot answer r: it returns what the handler is to return. A client that knows EDNS
// is written to here, since the reply that CoreDNS makes of an rcode has no room for the reason; for all others that is
// left to CoreDNS. rcode is one of those that say that nothing has been written, such as SERVFAIL; cause is what the
// errors plugin logs, and may be nil.
func Fail(w dns.ResponseWriter, r *dns.Msg, rcode int, code uint16, text string, cause error) (int, error) {
	if r.IsEdns0() == nil {
		return rcode, cause
	}
	m := new(dns.Msg)
	m.SetRcode(r, rcode)
	Explain(r, m, code, text)
	_ = w.WriteMsg(m) // nobody is left to tell
	return dns.RcodeSuccess, cause
}
