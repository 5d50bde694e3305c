package main

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/form"
)

// splitData tells which words of the command line are a record each: those of types with one field, and those that hold
// several fields themselves.
func splitData(rrtype uint16, words []string) []string {
	switch rrtype {
	case dns.TypeA, dns.TypeAAAA, dns.TypeCNAME, dns.TypePTR, dns.TypeNS, dns.TypeTXT, dns.TypeDNAME:
		return words
	}
	for _, w := range words {
		if !strings.ContainsAny(w, " \t") {
			return []string{strings.Join(words, " ")}
		}
	}
	return words
}

// parseData reads the data of a record in presentation form; names are absolute, with or without the last dot, and the
// text of TXT needs no quotes. Its errors wrap a skydns.Reason.
func parseData(name string, rrtype uint16, data string) (dns.RR, error) {
	typ := dns.Type(rrtype).String()
	h := dns.RR_Header{Name: name, Rrtype: rrtype, Class: dns.ClassINET}
	switch rrtype {
	case dns.TypeA, dns.TypeAAAA:
		addr, err := netip.ParseAddr(data)
		if err != nil || addr.Zone() != "" || addr.Is4() != (rrtype == dns.TypeA) {
			return nil, fmt.Errorf("%w: %q is no address for %s", skydns.ReasonHost, data, typ)
		}
		rr := form.AddressRR(name, addr)
		rr.Header().Rrtype = rrtype // ::ffff:192.0.2.1 is an AAAA record when it is said to be
		if addr.Is4In6() {
			rr = &dns.AAAA{Hdr: h, AAAA: addr.AsSlice()}
		}
		return rr, nil
	case dns.TypeTXT:
		if !strings.HasPrefix(data, `"`) {
			return &dns.TXT{Hdr: h, Txt: skydns.SplitText(data)}, nil
		}
	}
	r, err := skydns.Value{Type: typ, RData: data}.Record(0)
	if err != nil {
		return nil, err
	}
	rr := dns.Copy(r.RR())
	*rr.Header() = h
	return rr, nil
}
