package upstream

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/miekg/dns"
)

const (
	headerSize = 12
	// optSize is an OPT record without options (RFC 6891, section 6.1.2).
	optSize = 11
	// padBlock is the block length to which encrypted questions are padded (RFC 8467, section 4.1).
	padBlock = 128
)

// packing says what a transport adds to a question.
type packing struct {
	// keepalive asks for the idle timeout of a stream (RFC 7828), in questions that carry an OPT record.
	keepalive bool
	// pad hides the length of the question (RFC 8467); a question without OPT record gets one for the purpose.
	pad bool
}

// pack appends the wire form of m to buf[:0] with the ID zero, and returns it and the end of its question section. m
// is only read: several exchanges may pack it at the same time. (dns.Msg.Pack would write to its OPT record.)
func pack(buf []byte, m *dns.Msg, how packing) (wire []byte, qend int, err error) {
	if err := sendable(m); err != nil {
		return buf, 0, err
	}
	need := packedSize(m)
	buf = slices.Grow(buf[:0], need)[:need]

	q := m.Question[0]
	off, err := dns.PackDomainName(q.Name, buf, headerSize, nil, false)
	if err != nil || off == headerSize {
		return buf, 0, fmt.Errorf("%w: name %q: %w", ErrRequest, q.Name, err)
	}
	binary.BigEndian.PutUint16(buf[off:], q.Qtype)
	binary.BigEndian.PutUint16(buf[off+2:], q.Qclass)
	off += 4
	qend = off

	answer, off, err := packRRs(buf, off, m.Answer)
	if err != nil {
		return buf, 0, err
	}
	ns, off, err := packRRs(buf, off, m.Ns)
	if err != nil {
		return buf, 0, err
	}
	extra, off, err := packRRs(buf, off, m.Extra)
	if err != nil {
		return buf, 0, err
	}
	if opt := m.IsEdns0(); opt != nil || how.pad {
		if off, err = packOPT(buf, off, opt, how); err != nil {
			return buf, 0, err
		}
		extra++
	}
	if off > dns.MaxMsgSize {
		return buf, 0, fmt.Errorf("%w: %d bytes", ErrRequest, off)
	}

	binary.BigEndian.PutUint16(buf[0:], 0)
	binary.BigEndian.PutUint16(buf[2:], headerBits(m))
	binary.BigEndian.PutUint16(buf[4:], 1)
	binary.BigEndian.PutUint16(buf[6:], answer)
	binary.BigEndian.PutUint16(buf[8:], ns)
	binary.BigEndian.PutUint16(buf[10:], extra)
	return buf[:off], qend, nil
}

// sendable refuses what must not be sent on by half: a signature covers the ID and the options, a zone transfer is more
// than one message, and the other opcodes are for the server that was asked.
func sendable(m *dns.Msg) error {
	switch {
	case m.Opcode != dns.OpcodeQuery:
		return fmt.Errorf("%w: opcode %d", ErrUnsupported, m.Opcode)
	case m.Response, len(m.Question) != 1:
		return fmt.Errorf("%w: not a message with one question", ErrRequest)
	}
	switch m.Question[0].Qtype {
	case dns.TypeAXFR, dns.TypeIXFR:
		return fmt.Errorf("%w: zone transfer", ErrUnsupported)
	}
	for _, rr := range m.Extra {
		switch rr.Header().Rrtype {
		case dns.TypeTSIG, dns.TypeSIG:
			return fmt.Errorf("%w: signed", ErrUnsupported)
		}
	}
	return nil
}

// packedSize is an upper bound of what pack writes, all names uncompressed.
func packedSize(m *dns.Msg) int {
	size := headerSize + len(m.Question[0].Name) + 5 + optSize + padBlock + 8
	for _, section := range [][]dns.RR{m.Answer, m.Ns, m.Extra} {
		for _, rr := range section {
			size += dns.Len(rr)
		}
	}
	return size
}

func headerBits(m *dns.Msg) uint16 {
	bits := uint16(m.Opcode&0xF)<<11 | uint16(m.Rcode&0xF)
	for _, flag := range []struct {
		set bool
		bit uint16
	}{
		{m.Authoritative, 1 << 10}, {m.Truncated, 1 << 9}, {m.RecursionDesired, 1 << 8}, {m.RecursionAvailable, 1 << 7},
		{m.Zero, 1 << 6}, {m.AuthenticatedData, 1 << 5}, {m.CheckingDisabled, 1 << 4},
	} {
		if flag.set {
			bits |= flag.bit
		}
	}
	return bits
}

// packRRs packs all records but OPT ones. The copies keep dns.PackRR from writing Rdlength into the asker's message.
func packRRs(buf []byte, off int, rrs []dns.RR) (count uint16, end int, err error) {
	for _, rr := range rrs {
		if rr.Header().Rrtype == dns.TypeOPT {
			continue
		}
		if off, err = dns.PackRR(dns.Copy(rr), buf, off, nil, false); err != nil {
			return 0, off, fmt.Errorf("%w: %w", ErrRequest, err)
		}
		count++
	}
	return count, off, nil
}

// packOPT packs opt without the options of the asker's hop and with those of ours. opt may be nil.
func packOPT(buf []byte, off int, opt *dns.OPT, how packing) (int, error) {
	start := off
	var options []dns.EDNS0
	udpSize, ttl := uint16(dns.MaxMsgSize), uint32(0)
	if opt != nil {
		udpSize, ttl = opt.Hdr.Class, opt.Hdr.Ttl
		for _, o := range opt.Option {
			if !HopByHop(o.Option()) {
				options = append(options, o)
			}
		}
	}
	buf[off] = 0 // the root
	binary.BigEndian.PutUint16(buf[off+1:], dns.TypeOPT)
	binary.BigEndian.PutUint16(buf[off+3:], udpSize)
	binary.BigEndian.PutUint32(buf[off+5:], ttl)
	off += optSize
	if len(options) > 0 {
		kept := &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT, Class: udpSize, Ttl: ttl}, Option: options}
		var err error
		if off, err = dns.PackRR(kept, buf, start, nil, false); err != nil {
			return off, fmt.Errorf("%w: %w", ErrRequest, err)
		}
	}
	if how.keepalive {
		off = putOption(buf, off, dns.EDNS0TCPKEEPALIVE, 0)
	}
	if how.pad {
		// Four more bytes are the option itself; zero padding is padding too.
		off = putOption(buf, off, dns.EDNS0PADDING, (padBlock-(off+4)%padBlock)%padBlock)
	}
	binary.BigEndian.PutUint16(buf[start+optSize-2:], uint16(off-start-optSize))
	return off, nil
}

// putOption writes an option whose value is n zero bytes.
func putOption(buf []byte, off int, code uint16, n int) int {
	binary.BigEndian.PutUint16(buf[off:], code)
	binary.BigEndian.PutUint16(buf[off+2:], uint16(n))
	clear(buf[off+4 : off+4+n])
	return off + 4 + n
}

// HopByHop tells the EDNS options that concern two neighbours only (RFC 7873, RFC 7828, RFC 7830).
func HopByHop(code uint16) bool {
	switch code {
	case dns.EDNS0COOKIE, dns.EDNS0TCPKEEPALIVE, dns.EDNS0PADDING:
		return true
	}
	return false
}
