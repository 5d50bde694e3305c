package upstream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// matches tells whether reply belongs to the question in query[:qend]: it is a reply, has the same opcode, and repeats
// name, type and class (RFC 5452, section 9.1). The name is compared without case. The ID is the carrier's business.
//
// Servers that cannot make sense of a question may leave it out of the reply; that is taken as an answer from the four
// rcodes that say so.
func matches(query []byte, qend int, reply []byte) bool {
	const flagQR, maskOpcode = 0x80, 0x78
	if len(reply) < headerSize || reply[2]&flagQR == 0 || (reply[2]^query[2])&maskOpcode != 0 {
		return false
	}
	switch binary.BigEndian.Uint16(reply[4:]) {
	case 0:
		switch reply[3] & 0xF {
		case dns.RcodeFormatError, dns.RcodeServerFailure, dns.RcodeNotImplemented, dns.RcodeRefused:
			return binary.BigEndian.Uint16(reply[6:]) == 0
		}
		return false
	case 1:
		return len(reply) >= qend && equalFold(query[headerSize:qend-4], reply[headerSize:qend-4]) &&
			string(query[qend-4:qend]) == string(reply[qend-4:qend])
	}
	return false
}

// equalFold compares names in wire form. Length bytes are at most 63 and therefore no letters.
func equalFold(a, b []byte) bool {
	for i := range a {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// unsaid is the idle timeout of a reply that does not speak of one.
const unsaid time.Duration = -1

// unpack turns a reply that matches the question that ends at qend into the message for whoever asked q: with their ID,
// their question, and without what concerns our hop only. idle is how long the peer wants connections to be kept, or
// unsaid.
//
// A datagram that was cut short becomes an empty reply with TC set, so that whoever asked comes again over TCP. On a
// stream it is malformed.
func unpack(wire []byte, qend int, q *dns.Msg, datagram bool) (reply *dns.Msg, idle time.Duration, err error) {
	reply = new(dns.Msg)
	if err := reply.Unpack(wire[:headerSize]); err != nil {
		return nil, unsaid, malformed("%v", err)
	}
	question := q.Question[0]
	if binary.BigEndian.Uint16(wire[4:]) == 0 {
		qend = headerSize
	}
	reply.Id, reply.Question = q.Id, []dns.Question{question}
	switch err := sections(reply, wire, qend, question); {
	case err == nil:
	case errors.Is(err, errCut) && datagram:
		reply.Truncated = true
		reply.Answer, reply.Ns, reply.Extra = nil, nil, nil
	default:
		return nil, unsaid, malformed("%v", err)
	}
	reply.Extra = slices.DeleteFunc(reply.Extra, signsMessage)
	idle = unsaid
	if o := tidyOPT(reply, q.IsEdns0() != nil); o != nil {
		idle = idleTimeout(o, wire)
	}
	return reply, idle, nil
}

// tidyOPT takes the hop-by-hop options out, and the whole record when the asker knows no EDNS (RFC 6891, section 7). It
// returns what was meant for us.
func tidyOPT(m *dns.Msg, asked bool) (keepalive *dns.EDNS0_TCP_KEEPALIVE) {
	for i := len(m.Extra) - 1; i >= 0; i-- {
		opt, ok := m.Extra[i].(*dns.OPT)
		if !ok {
			continue
		}
		opt.Option = slices.DeleteFunc(opt.Option, func(o dns.EDNS0) bool {
			if k, ok := o.(*dns.EDNS0_TCP_KEEPALIVE); ok {
				keepalive = k
			}
			return HopByHop(o.Option())
		})
		if !asked {
			m.Extra = slices.Delete(m.Extra, i, i+1)
		}
	}
	// An extended rcode has no room in a message without OPT.
	if m.Rcode > 0xF && m.IsEdns0() == nil {
		m.Rcode = dns.RcodeServerFailure
	}
	return keepalive
}

// signsMessage tells whether rr is a TSIG record or a SIG(0) one: a signature of a message on its way over one hop (RFC
// 8945, section 5.5; RFC 2931, section 3). Nobody asked for it, and a message that ends with a TSIG record cannot be sent
// without the key.
func signsMessage(rr dns.RR) bool {
	switch rr.Header().Rrtype {
	case dns.TypeTSIG:
		return true
	case dns.TypeSIG:
		sig, ok := rr.(*dns.SIG)
		return ok && sig.TypeCovered == 0
	}
	return false
}

// growOld makes all records older by so many seconds.
func growOld(m *dns.Msg, seconds uint32) {
	for _, section := range [][]dns.RR{m.Answer, m.Ns, m.Extra} {
		for _, rr := range section {
			if h := rr.Header(); h.Rrtype != dns.TypeOPT {
				h.Ttl -= min(h.Ttl, seconds)
			}
		}
	}
}

// idleTimeout is what an edns-tcp-keepalive option of a reply asks for, or unsaid. An option without a value says
// nothing, one of zero says that the connection must go (RFC 7828, section 3.3); the parsed option does not tell them
// apart, the bytes do.
func idleTimeout(o *dns.EDNS0_TCP_KEEPALIVE, wire []byte) time.Duration {
	if o.Timeout == 0 && !bytes.Contains(wire, []byte{0, dns.EDNS0TCPKEEPALIVE, 0, 2, 0, 0}) {
		return unsaid
	}
	return time.Duration(o.Timeout) * 100 * time.Millisecond
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}
