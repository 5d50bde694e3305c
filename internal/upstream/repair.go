package upstream

import (
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/miekg/dns"
)

// errCut says that a message ends before its records do.
var errCut = errors.New("message cut short")

// repair reads a message that dns.Msg.Unpack does not take, record by record. Rdata that cannot be parsed goes on as
// an unknown record (RFC 3597), byte for byte. A datagram that was cut short becomes an empty reply with TC set, so that
// whoever asked comes again over TCP; on a stream it is malformed.
func repair(wire []byte, datagram bool) (*dns.Msg, error) {
	m := new(dns.Msg)
	if len(wire) < headerSize {
		return nil, malformed("%d bytes", len(wire))
	}
	if err := m.Unpack(wire[:headerSize]); err != nil {
		return nil, malformed("%v", err)
	}
	err := repairSections(m, wire)
	if errors.Is(err, errCut) && datagram {
		m.Truncated = true
		m.Answer, m.Ns, m.Extra = nil, nil, nil
		return m, nil
	}
	if err != nil {
		return nil, malformed("%v", err)
	}
	if opt := m.IsEdns0(); opt != nil {
		m.Rcode |= opt.ExtendedRcode()
	}
	return m, nil
}

func repairSections(m *dns.Msg, wire []byte) error {
	off := headerSize
	for range binary.BigEndian.Uint16(wire[4:]) {
		_, end, err := dns.UnpackDomainName(wire, off)
		if err != nil {
			return err
		}
		off = end + 4
	}
	for i, section := range []*[]dns.RR{&m.Answer, &m.Ns, &m.Extra} {
		for range binary.BigEndian.Uint16(wire[6+2*i:]) {
			rr, end, err := repairRecord(wire, off)
			if err != nil {
				return err
			}
			*section = append(*section, rr)
			off = end
		}
	}
	return nil
}

func repairRecord(wire []byte, off int) (dns.RR, int, error) {
	if off >= len(wire) {
		return nil, 0, errCut
	}
	name, rdata, err := dns.UnpackDomainName(wire, off)
	if err != nil {
		if errors.Is(err, dns.ErrBuf) {
			err = errCut
		}
		return nil, 0, err
	}
	rdata += 10
	if rdata > len(wire) {
		return nil, 0, errCut
	}
	h := dns.RR_Header{
		Name:     name,
		Rrtype:   binary.BigEndian.Uint16(wire[rdata-10:]),
		Class:    binary.BigEndian.Uint16(wire[rdata-8:]),
		Ttl:      binary.BigEndian.Uint32(wire[rdata-6:]),
		Rdlength: binary.BigEndian.Uint16(wire[rdata-2:]),
	}
	end := rdata + int(h.Rdlength)
	if end > len(wire) {
		return nil, 0, errCut
	}
	rr, got, err := dns.UnpackRR(wire[:end], off)
	switch {
	case err == nil && got == end:
		return rr, end, nil
	case h.Rrtype == dns.TypeOPT:
		return &dns.OPT{Hdr: h}, end, nil // EDNS itself is sound; options that cannot be read say nothing
	case compressible(h.Rrtype):
		return nil, 0, errors.New("bad rdata with a domain name in " + dns.Type(h.Rrtype).String())
	}
	return &dns.RFC3597{Hdr: h, Rdata: hex.EncodeToString(wire[rdata:end])}, end, nil
}

// compressible tells the types whose rdata may contain compressed names (RFC 3597, section 4): copied elsewhere, it
// would point to other bytes.
func compressible(rrtype uint16) bool {
	switch rrtype {
	case dns.TypeNS, dns.TypeMD, dns.TypeMF, dns.TypeCNAME, dns.TypeSOA, dns.TypeMB, dns.TypeMG, dns.TypeMR, dns.TypePTR,
		dns.TypeMINFO, dns.TypeMX, dns.TypeRP, dns.TypeAFSDB, dns.TypeRT, dns.TypeSIG, dns.TypePX, dns.TypeNXT,
		dns.TypeNAPTR, dns.TypeKX, dns.TypeSRV, dns.TypeDNAME:
		return true
	}
	return false
}
