package parity

import (
	"strings"
	"testing"

	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/trident-dns/trident/hosts"
	"github.com/trident-dns/trident/internal/proctest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// hostsText has one of everything that hosts files hold: comments, several names a line, upper case, both families,
// a mapped address, one address on several lines, wildcards, empty non-terminals, lines that cannot be used.
const hostsText = `# comment
127.0.0.1	localhost localhost.localdomain
::1		localhost ip6-localhost
10.0.0.1	www.example.org example.org alias.example.org # trailing
10.0.0.2	www.example.org
2001:db8::1	www.example.org six.example.org
10.0.0.3	UPPER.Example.ORG
::ffff:10.0.0.4	mapped.example.org
10.0.0.5	*.wild.example.org
2001:db8::5	*.wild.example.org
10.0.0.6	explicit.wild.example.org
10.0.0.7	deep.a.b.c.example.org
10.0.0.8	out.example.net
10.0.0.1	second-line.example.org alias.example.org
not-an-address	bad.example.org
010.0.0.9	octal.example.org
10.0.0.10:80	port.example.org
10.0.0.11
fe80::1%eth0	scoped.example.org
192.168.1.1	router.example.org	router
`

var hostsNames = []string{
	"www.example.org", "alias.example.org", "six.example.org", "upper.example.org", "mapped.example.org",
	"any.wild.example.org", "explicit.wild.example.org", "deep.a.b.c.example.org", "out.example.net", "localhost",
	"bad.example.org", "octal.example.org", "port.example.org", "scoped.example.org", "router.example.org",
	"inline.example.org", "1.0.0.10.in-addr.arpa", "3.0.0.10.in-addr.arpa", "1.1.168.192.in-addr.arpa",
	"99.0.0.10.in-addr.arpa", "1.0.0.127.in-addr.arpa",
	"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa", "elsewhere.test",
}

// hostsParents are the names of hostsText that exist only because others lie below them.
var hostsParents = []string{
	"wild.example.org.", "a.b.c.example.org.", "b.c.example.org.", "c.example.org.", "org.", "net.", "example.net.",
	"localdomain.", ".",
}

var hostsTypes = []uint16{
	dns.TypeA, dns.TypeAAAA, dns.TypePTR, dns.TypeTXT, dns.TypeMX, dns.TypeHTTPS, dns.TypeSOA, dns.TypeNS,
	dns.TypeCNAME, dns.TypeANY,
}

// hostsDifferences are what our hosts does otherwise, on purpose. parents are the names
// that exist only as such and do not fall through.
func hostsDifferences(zones, parents []string) []difference {
	const ttl = 60 // of negative answers
	return []difference{
		ownCase,
		noDuplicates,
		{
			reason: "an explicit name is not answered from a wildcard, whatever the family (RFC 4592 2.2.1)",
			want: func(q question, m *dns.Msg) *dns.Msg {
				if q.qtype == dns.TypeAAAA && strings.EqualFold(q.name, "explicit.wild.example.org.") {
					m.Answer = nil
				}
				return m
			},
		},
		{
			reason: "a name below the reverse name of an address is not that address",
			want: func(q question, m *dns.Msg) *dns.Msg {
				if q.qtype == dns.TypePTR && strings.HasPrefix(strings.ToLower(q.name), "below.") && len(m.Answer) > 0 {
					m.Rcode, m.Authoritative, m.Answer = dns.RcodeServerFailure, false, nil
				}
				return m
			},
		},
		notForPTR(onlyParents(dns.RcodeServerFailure, zones, ttl, parents...)),
		negative(zones, ttl),
	}
}

// notForPTR: a PTR question that has no answer goes on to the next plugin, ours as stock's.
func notForPTR(d difference) difference {
	want := d.want
	d.want = func(q question, m *dns.Msg) *dns.Msg {
		if q.qtype == dns.TypePTR {
			return nil
		}
		return want(q, m)
	}
	return d
}

func TestHosts(t *testing.T) {
	bin := proctest.Build(t, "./stock")
	file := proctest.WriteFile(t, t.TempDir(), "hosts", "%s", hostsText)
	seen := make(ledger)
	for _, tt := range []struct {
		name, corefile string
		zones, parents []string
	}{
		{"one zone", ".:PORT {\n hosts FILE example.org {\n ttl 60\n 10.1.0.1 inline.example.org www.example.org\n }\n}", []string{"example.org."}, hostsParents},
		{"all zones", ".:PORT {\n hosts FILE\n}", []string{"."}, hostsParents},
		{"fallthrough", ".:PORT {\n hosts FILE example.org 10.in-addr.arpa {\n fallthrough a.b.c.example.org\n }\n}", []string{"example.org.", "10.in-addr.arpa."}, []string{"wild.example.org.", "b.c.example.org.", "c.example.org."}},
		{"no reverse", "example.org:PORT 10.in-addr.arpa:PORT {\n hosts FILE {\n no_reverse\n fallthrough\n fallthrough_unsupported\n }\n}", []string{"example.org.", "10.in-addr.arpa."}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			corefile := strings.ReplaceAll(tt.corefile, "FILE", file)
			stock := startStock(t, bin, corefile)
			ours := server.Start(t, strings.ReplaceAll(corefile, "PORT", "0"))
			compare(t, stock, ours, ask(around(hostsNames...), hostsTypes), 500, hostsDifferences(tt.zones, tt.parents), seen)
		})
	}
	seen.check(t)
}
