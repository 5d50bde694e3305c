package hosts

import (
	"testing"

	"github.com/miekg/dns"
)

const wild = `
10.0.0.1 *.example.com
10.0.0.2 a.example.com
2001:db8::1 *.example.com
10.0.0.3 x.deep.example.com
10.0.0.4 *.intern.example.com
10.0.0.5 b.example.com
`

func TestAWildcardStandsForOneLabel(t *testing.T) {
	s := serve(t, write(t, wild), "2001:db8::2 b.example.com")
	check(t, s, []question{
		{"other.example.com.", dns.TypeA, "10.0.0.1"},
		{"other.example.com.", dns.TypeAAAA, "2001:db8::1"},
		{"other.example.com.", dns.TypeTXT, "NODATA"},
		{"*.example.com.", dns.TypeA, "10.0.0.1"},
		{"x.other.example.com.", dns.TypeA, "SERVFAIL"},
		{"example.com.", dns.TypeA, "NODATA"},
		{"y.intern.example.com.", dns.TypeA, "10.0.0.4"},
		// Names above others have always been covered.
		{"deep.example.com.", dns.TypeA, "10.0.0.1"},
		{"intern.example.com.", dns.TypeA, "10.0.0.1"},
	})
}

// RFC 4592 section 2.2.1: a name that exists is not covered, in whatever family and source it exists.
func TestOwnEntriesKeepWildcardsOut(t *testing.T) {
	s := serve(t, write(t, wild), "10.0.0.9 *.example.com\n10.0.0.8 c.example.com")
	check(t, s, []question{
		{"a.example.com.", dns.TypeAAAA, "NODATA"},
		{"b.example.com.", dns.TypeA, "10.0.0.5"},
		{"c.example.com.", dns.TypeA, "10.0.0.8"},
		{"c.example.com.", dns.TypeAAAA, "NODATA"},
		{"other.example.com.", dns.TypeA, "10.0.0.1 10.0.0.9"},
	})
}

// RFC 4592 section 3.3.1: the wildcard below the closest encloser, and no other, stands for the name.
func TestDeepWildcards(t *testing.T) {
	s := serve(t, write(t, wild), "wildcards deep\n10.0.0.7 *.q.z.example.com")
	check(t, s, []question{
		{"other.example.com.", dns.TypeA, "10.0.0.1"},
		{"x.other.example.com.", dns.TypeA, "10.0.0.1"},
		{"w.x.other.example.com.", dns.TypeAAAA, "2001:db8::1"},
		{"y.x.intern.example.com.", dns.TypeA, "10.0.0.4"},
		{"below.a.example.com.", dns.TypeA, "SERVFAIL"},
		{"y.deep.example.com.", dns.TypeA, "SERVFAIL"},
		{"deep.example.com.", dns.TypeA, "NODATA"},
		{"intern.example.com.", dns.TypeA, "NODATA"},
		{"1.2.3.q.z.example.com.", dns.TypeA, "10.0.0.7"},
		{"p.z.example.com.", dns.TypeA, "SERVFAIL"},
		{"below.*.example.com.", dns.TypeA, "SERVFAIL"}, // section 2.2.1: the wildcard itself exists
	})
}
