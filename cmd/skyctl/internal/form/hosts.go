package form

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
)

// readHosts reads a hosts file, hosts(5): an address and its names a line. Names without a dot are completed by the
// origin, and left out without one: such as localhost are this machine's affair.
func readHosts(file string, text []byte, o Options) (Input, error) {
	var in Input
	bare := 0
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		line, _, _ := strings.Cut(string(raw), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		addr, _, err := splitZone(fields[0])
		if err != nil {
			return in, fmt.Errorf("%w: %s, line %d: %q is no address", ErrSyntax, file, n, fields[0])
		}
		if len(fields) == 1 {
			return in, fmt.Errorf("%w: %s, line %d: no name after the address", ErrSyntax, file, n)
		}
		for i, name := range fields[1:] {
			if !strings.Contains(strings.TrimSuffix(name, "."), ".") {
				if o.Origin == "" {
					bare++
					continue
				}
				name = strings.TrimSuffix(name, ".") + "." + strings.TrimPrefix(o.Origin, ".")
			}
			fqdn, err := skydns.CheckName(name)
			if err != nil {
				return in, fmt.Errorf("%w: %s, line %d: %w", ErrSyntax, file, n, err)
			}
			in.Wants = append(in.Wants, plan.Want{
				RR: AddressRR(fqdn, addr), TTL: o.TTL, Alias: i > 0, Origin: fmt.Sprintf("%s, line %d", file, n),
			})
		}
	}
	if bare > 0 {
		in.Notes = append(in.Notes, fmt.Sprintf("left out %d names without a dot; --origin ZONE completes them", bare))
	}
	return in, nil
}

// AddressRR is the A or AAAA record of a name.
func AddressRR(name string, addr netip.Addr) dns.RR {
	addr = addr.Unmap().WithZone("")
	h := dns.RR_Header{Name: name, Class: dns.ClassINET, Rrtype: dns.TypeA}
	if addr.Is4() {
		return &dns.A{Hdr: h, A: net.IP(addr.AsSlice())}
	}
	h.Rrtype = dns.TypeAAAA
	return &dns.AAAA{Hdr: h, AAAA: net.IP(addr.AsSlice())}
}
