package record

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// ErrClass says that a record is not of the Internet class, which is all that etcd holds.
var ErrClass = errors.New("class is not IN")

// ValueOf returns the value that holds a resource record, without TTL and targetstrip. Its errors wrap a skydns.Reason or
// ErrClass.
//
// service says that SRV and MX are to be written as SkyDNS knows them, by host and port, where that holds the same. Other
// servers of SkyDNS records read that too, but the name then also answers A, AAAA and CNAME with its target. Otherwise
// type and rdata are used, which hold exactly the record.
func ValueOf(rr dns.RR, service bool) (skydns.Value, error) {
	h := rr.Header()
	if h.Class != dns.ClassINET {
		return skydns.Value{}, fmt.Errorf("%w but %s", ErrClass, dns.Class(h.Class))
	}
	v := short(rr, service)
	if v == (skydns.Value{}) || !holds(v, rr) {
		v = skydns.Value{Type: dns.Type(h.Rrtype).String(), RData: RData(rr)}
	}
	_, err := v.Record(0)
	return v, err
}

// short is the value in SkyDNS's own fields, or the zero value where there is none.
func short(rr dns.RR, service bool) skydns.Value {
	switch rr := rr.(type) {
	case *dns.A:
		return skydns.Value{Host: rr.A.String()}
	case *dns.AAAA:
		return skydns.Value{Host: rr.AAAA.String()}
	case *dns.CNAME:
		return skydns.Value{Host: rr.Target}
	case *dns.PTR:
		return skydns.Value{Host: rr.Ptr}
	case *dns.TXT:
		return skydns.Value{Text: textOf(rr.Txt)}
	case *dns.SRV:
		if service {
			return skydns.Value{Host: rr.Target, Port: rr.Port, Priority: rr.Priority, Weight: rr.Weight}
		}
	case *dns.MX:
		if service {
			return skydns.Value{Host: rr.Mx, Mail: true, Priority: rr.Preference}
		}
	}
	return skydns.Value{}
}

// holds tells whether v is read back as rr and nothing else.
func holds(v skydns.Value, rr dns.RR) bool {
	r, err := v.Record(0)
	if err != nil {
		return false
	}
	path := skydns.PathOf(rr.Header().Name)
	back := Key{Record: r, Place: Place{Path: path, Owner: path}}.RRs()
	return len(back) == 1 && Same(back[0], rr)
}

// Same tells whether two records have the same owner, type and rdata. TTLs do not count.
func Same(a, b dns.RR) bool {
	return a.Header().Rrtype == b.Header().Rrtype &&
		dns.CanonicalName(a.Header().Name) == dns.CanonicalName(b.Header().Name) && RData(a) == RData(b)
}

// RData is the presentation form of a record without what comes before its data.
func RData(rr dns.RR) string {
	if unknown, ok := rr.(*dns.RFC3597); ok {
		return fmt.Sprintf(`\# %d %s`, len(unknown.Rdata)/2, unknown.Rdata)
	}
	return strings.TrimPrefix(rr.String(), rr.Header().String())
}

// textOf joins the character-strings of a TXT record, whose escapes package dns keeps. "" when the text would not come
// back as it was.
func textOf(parts []string) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(unescape(part))
	}
	text := b.String()
	if !utf8.ValidString(text) || !slices.EqualFunc(skydns.SplitText(text), parts, func(x, y string) bool {
		return unescape(x) == unescape(y)
	}) {
		return ""
	}
	return text
}

// unescape resolves the escapes of RFC 1035, section 5.1.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch rest := s[i+1:]; {
		case s[i] != '\\' || rest == "":
			b = append(b, s[i])
		case len(rest) >= 3 && isDigits(rest[:3]):
			b = append(b, (rest[0]-'0')*100+(rest[1]-'0')*10+(rest[2]-'0'))
			i += 3
		default:
			b = append(b, rest[0])
			i++
		}
	}
	return string(b)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// ReverseName is the name of an address below in-addr.arpa or ip6.arpa.
func ReverseName(addr netip.Addr) string {
	name, _ := dns.ReverseAddr(addr.Unmap().WithZone("").String()) // an address always has one
	return name
}

// NameArg reads a name as people give it on a command line: with or without the last dot, or as an address, which stands
// for its reverse name. Its error wraps skydns.ReasonName.
func NameArg(s string) (string, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return ReverseName(addr), nil
	}
	if s == "" {
		return "", fmt.Errorf("%w: it is empty", skydns.ReasonName)
	}
	name, err := skydns.CheckName(s)
	if err != nil {
		return "", fmt.Errorf("%w: %w", skydns.ReasonName, err)
	}
	return dns.CanonicalName(name), nil
}
