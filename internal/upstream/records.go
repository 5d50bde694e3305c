package upstream

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"

	"github.com/miekg/dns"
)

// errCut says that a message ends before its records do.
var errCut = errors.New("message cut short")

// toQuestion is the compression pointer to the name in the question, which is the owner name of most records.
const toQuestion = 0xC000 | headerSize

// sections reads all records of a reply whose question section, the one of q, ends at off. Rdata that cannot be parsed
// becomes an unknown record (RFC 3597), byte for byte, where that is possible: see mustParse and mayBeEmpty.
//
// dns.Msg.Unpack gives up at the first record that it does not like, stops without an error where the message ends,
// and parses the question again, and its name again for each record.
func sections(m *dns.Msg, wire []byte, off int, q dns.Question) error {
	for i, section := range []*[]dns.RR{&m.Answer, &m.Ns, &m.Extra} {
		count := int(binary.BigEndian.Uint16(wire[6+2*i:]))
		if count == 0 {
			continue
		}
		*section = make([]dns.RR, 0, min(count, 16)) // the count is a claim
		for range count {
			rr, end, err := record(wire, off, q.Name)
			if err != nil {
				return err
			}
			*section = append(*section, rr)
			off = end
		}
	}
	if opt := m.IsEdns0(); opt != nil {
		m.Rcode |= opt.ExtendedRcode()
	}
	return nil
}

// record reads the record at off, in a message about qname, and returns where it ends.
func record(wire []byte, off int, qname string) (dns.RR, int, error) {
	h := dns.RR_Header{Name: qname}
	switch {
	case off >= len(wire):
		return nil, 0, errCut
	case off+2 <= len(wire) && binary.BigEndian.Uint16(wire[off:]) == toQuestion:
		off += 2
	default:
		var err error
		if h.Name, off, err = dns.UnpackDomainName(wire, off); err != nil {
			if errors.Is(err, dns.ErrBuf) {
				err = errCut
			}
			return nil, 0, err
		}
	}
	rdata := off + 10
	if rdata > len(wire) {
		return nil, 0, errCut
	}
	h.Rrtype = binary.BigEndian.Uint16(wire[off:])
	h.Class = binary.BigEndian.Uint16(wire[off+2:])
	h.Ttl = binary.BigEndian.Uint32(wire[off+4:])
	h.Rdlength = binary.BigEndian.Uint16(wire[off+8:])
	end := rdata + int(h.Rdlength)
	if end > len(wire) {
		return nil, 0, errCut
	}
	if end == rdata && h.Rrtype != dns.TypeOPT {
		if dns.TypeToRR[h.Rrtype] != nil && !mayBeEmpty(h.Rrtype) {
			return nil, 0, errors.New("no rdata in " + dns.Type(h.Rrtype).String())
		}
		// The typed record would gain bytes when it is packed.
		return &dns.RFC3597{Hdr: h}, end, nil
	}
	if rr := addressRecord(h, wire[rdata:end]); rr != nil {
		return rr, end, nil
	}
	rr, got, err := dns.UnpackRRWithHeader(h, wire[:end], rdata)
	switch {
	case err == nil && got == end:
		return rr, end, nil
	case h.Rrtype == dns.TypeOPT:
		return &dns.OPT{Hdr: h}, end, nil // EDNS itself is sound; options that cannot be read say nothing
	case mustParse(h.Rrtype):
		return nil, 0, errors.New("bad rdata in " + dns.Type(h.Rrtype).String())
	}
	return &dns.RFC3597{Hdr: h, Rdata: hex.EncodeToString(wire[rdata:end])}, end, nil
}

// addressRecord reads the records that most replies consist of, each in one allocation instead of three.
func addressRecord(h dns.RR_Header, rdata []byte) dns.RR {
	switch {
	case h.Rrtype == dns.TypeA && len(rdata) == net.IPv4len:
		r := &struct {
			dns.A
			addr [net.IPv4len]byte
		}{A: dns.A{Hdr: h}, addr: [net.IPv4len]byte(rdata)}
		r.A.A = r.addr[:]
		return &r.A
	case h.Rrtype == dns.TypeAAAA && len(rdata) == net.IPv6len:
		r := &struct {
			dns.AAAA
			addr [net.IPv6len]byte
		}{AAAA: dns.AAAA{Hdr: h}, addr: [net.IPv6len]byte(rdata)}
		r.AAAA.AAAA = r.addr[:]
		return &r.AAAA
	}
	return nil
}

// mustParse tells the types that cannot go on as unknown records: those of RFC 1035 and others whose rdata may contain
// compressed names (RFC 3597, section 4), which would point to other bytes elsewhere, and those that plugins take for
// granted to be what their type says, so that an unknown record in their place makes them panic: dns64 and loadbalance
// A and AAAA, rewrite what has a target, cache RRSIG.
func mustParse(rrtype uint16) bool {
	switch rrtype {
	case dns.TypeA, dns.TypeAAAA, dns.TypeNS, dns.TypeMD, dns.TypeMF, dns.TypeCNAME, dns.TypeSOA, dns.TypeMB, dns.TypeMG,
		dns.TypeMR, dns.TypePTR, dns.TypeHINFO, dns.TypeMINFO, dns.TypeMX, dns.TypeTXT, dns.TypeRP, dns.TypeAFSDB,
		dns.TypeRT, dns.TypeSIG, dns.TypePX, dns.TypeNXT, dns.TypeNAPTR, dns.TypeKX, dns.TypeSRV, dns.TypeDNAME,
		dns.TypeRRSIG:
		return true
	}
	return false
}

// mayBeEmpty tells the known types whose rdata may have no bytes at all.
func mayBeEmpty(rrtype uint16) bool {
	switch rrtype {
	case dns.TypeNULL, dns.TypeAPL, dns.TypeEID, dns.TypeNIMLOC:
		return true
	}
	return false
}
