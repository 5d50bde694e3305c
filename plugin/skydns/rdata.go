package skydns

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// parseRR reads a record of any type in presentation form. It returns nil when neither field is set.
func parseRR(typ, rdata string) (dns.RR, error) {
	if typ == "" {
		if rdata != "" {
			return nil, fmt.Errorf("%w: rdata without a type", ReasonType)
		}
		return nil, nil
	}
	typ = strings.ToUpper(typ)
	code, known := dns.StringToType[typ]
	if !known {
		// RFC 3597, section 5. An unknown type is served like any other.
		digits, generic := strings.CutPrefix(typ, "TYPE")
		n, err := strconv.ParseUint(digits, 10, 16)
		if !generic || err != nil {
			return nil, fmt.Errorf("%w: %q is unknown", ReasonType, typ)
		}
		code = uint16(n)
	}
	if !storable(code) {
		return nil, fmt.Errorf("%w: %s cannot be kept as a record", ReasonType, typ)
	}
	// Without rdata the parser makes a record for an update (RFC 2136), which no answer may hold.
	if strings.TrimSpace(rdata) == "" || strings.ContainsAny(rdata, "\r\n") {
		return nil, fmt.Errorf("%w: %s needs one line", ReasonRData, typ)
	}
	zp := dns.NewZoneParser(strings.NewReader(". 0 IN "+typ+" "+rdata+"\n"), ".", "")
	rr, ok := zp.Next()
	if !ok {
		return nil, fmt.Errorf("%w: %s %q: %w", ReasonRData, typ, rdata, zp.Err())
	}
	if err := packable(rr); err != nil {
		return nil, fmt.Errorf("%w: %s %q: %w", ReasonRData, typ, rdata, err)
	}
	return rr, nil
}

// packable tells whether rr fits into a message beside the longest question.
func packable(rr dns.RR) error {
	buf := make([]byte, maxText+maxText/255)
	_, err := dns.PackRR(rr, buf, 0, nil, false)
	return err
}

// storable tells whether a record of this type may be kept below a name. What is made by the server (SOA), by a signer
// (RFC 4034, 5155), needs more than its own name to be answered right (DNAME) or exists in messages only may not.
func storable(code uint16) bool {
	switch code {
	case dns.TypeNone, dns.TypeSOA, dns.TypeDNAME,
		dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM, dns.TypeSIG, dns.TypeNXT, dns.TypeNULL, dns.TypeOPT:
		return false
	}
	// Meta types and question types: RFC 6895, section 3.1.
	return code < 128 || code > 255
}
