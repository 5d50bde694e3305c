package skydns

import (
	"bytes"
	"errors"
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
	code, err := ParseType(typ)
	if err != nil {
		return nil, err
	}
	typ = dns.Type(code).String()
	// Without rdata the parser makes a record for an update (RFC 2136), which no answer may hold.
	if strings.TrimSpace(rdata) == "" || strings.ContainsAny(rdata, "\r\n") {
		return nil, fmt.Errorf("%w: %s needs one line", ReasonRData, typ)
	}
	rr, err := read(". 0 IN " + typ + " " + rdata)
	if err == nil && isGeneric(rdata) {
		err = complete(rr)
	}
	if err == nil {
		err = sound(rr)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s %q: %w", ReasonRData, typ, rdata, err)
	}
	return rr, nil
}

// ParseType reads the type of a record that can be kept, by its name or as TYPE with a number, in any case. Its error
// wraps ReasonType.
func ParseType(s string) (uint16, error) {
	name := strings.ToUpper(s)
	code, known := dns.StringToType[name]
	if !known {
		// RFC 3597, section 5. An unknown type is served like any other.
		digits, generic := strings.CutPrefix(name, "TYPE")
		n, err := strconv.ParseUint(digits, 10, 16)
		if !generic || err != nil {
			return 0, fmt.Errorf("%w: %q is unknown", ReasonType, s)
		}
		code = uint16(n)
	}
	if !storable(code) {
		return 0, fmt.Errorf("%w: %s cannot be kept as a record", ReasonType, name)
	}
	return code, nil
}

func read(line string) (dns.RR, error) {
	zp := dns.NewZoneParser(strings.NewReader(line+"\n"), ".", "")
	rr, ok := zp.Next()
	if err := zp.Err(); !ok && err != nil {
		return nil, err
	}
	if rr == nil {
		return nil, errEmpty
	}
	return rr, nil
}

// isGeneric tells whether rdata has the form for types that are not known: RFC 3597, section 5.
func isGeneric(rdata string) bool {
	fields := strings.Fields(strings.TrimLeft(rdata, " \t("))
	return len(fields) > 0 && fields[0] == `\#`
}

// complete tells whether a record that was given in the generic form has all the fields of its type. The parser takes
// data that end between two fields.
func complete(rr dns.RR) error {
	if _, ok := rr.(*dns.RFC3597); ok {
		return nil
	}
	if dns.Len(rr)-emptyRR != int(rr.Header().Rdlength) {
		return errUnsound
	}
	_, err := read(rr.String())
	return err
}

// What is wrong with a record that the parser takes and no client could.
var (
	errEmpty   = errors.New("no data")
	errUnsound = errors.New("not what a client would read")
)

// sound tells whether rr fits into a message beside the longest question, and whether what a client reads there is the
// same record. The parser lets some types have no data: that is for updates (RFC 2136), and clients refuse the reply.
func sound(rr dns.RR) error {
	buf := make([]byte, 2*(maxText+maxText/255))
	wire, again := buf[:len(buf)/2], buf[len(buf)/2:]
	n, err := dns.PackRR(rr, wire, 0, nil, false)
	if err != nil {
		return err
	}
	if n == emptyRR && !mayBeEmpty(rr) {
		return errEmpty
	}
	back, _, err := dns.UnpackRR(wire[:n], 0)
	if err != nil {
		return err
	}
	m, err := dns.PackRR(back, again, 0, nil, false)
	if err != nil {
		return err
	}
	if !bytes.Equal(wire[:n], again[:m]) {
		return errUnsound
	}
	return nil
}

// emptyRR is the size of a record of the root without data: its name, type, class, TTL and length. RFC 1035, 4.1.3.
const emptyRR = 1 + 2 + 2 + 4 + 2

// mayBeEmpty tells whether a record without data is one: a list of prefixes (RFC 3123, section 4), and types of which
// nothing is known (RFC 3597, section 5).
func mayBeEmpty(rr dns.RR) bool {
	switch rr.(type) {
	case *dns.APL, *dns.RFC3597:
		return true
	}
	return false
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
