package forward

import "github.com/miekg/dns"

// refusal returns the rcode for messages that are never sent on, and whether m is one of them.
//
//   - An opcode other than QUERY means something else to every server it reaches: NOTIMP (RFC 1035, section 4.1.1).
//   - A signature covers the message as the client sent it (RFC 8945, section 5.1; RFC 2931, section 3.1). What goes to
//     an upstream has another ID, and the reply would have to be signed with a key that is not ours: NOTIMP, rather than
//     to strip the signature and answer as if there had been none.
//   - A zone transfer is many messages to one question (RFC 5936, section 2.2), and sending on only the first would cut
//     the zone short: REFUSED.
func refusal(m *dns.Msg) (rcode int, refused bool) {
	switch {
	case m.Opcode != dns.OpcodeQuery:
		return dns.RcodeNotImplemented, true
	case m.Response, len(m.Question) != 1:
		return dns.RcodeFormatError, true
	case m.Question[0].Qtype == dns.TypeAXFR, m.Question[0].Qtype == dns.TypeIXFR:
		return dns.RcodeRefused, true
	case signed(m):
		return dns.RcodeNotImplemented, true
	}
	return dns.RcodeSuccess, false
}

// signed tells whether m carries a TSIG, or a SIG that covers a transaction rather than an RRset (type covered 0).
func signed(m *dns.Msg) bool {
	for _, rr := range m.Extra {
		switch rr := rr.(type) {
		case *dns.TSIG:
			return true
		case *dns.SIG:
			if rr.TypeCovered == 0 {
				return true
			}
		}
	}
	return false
}
