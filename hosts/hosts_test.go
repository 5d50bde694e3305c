package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/coredns/coredns/plugin/whoami"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// The next plugin is whoami, which answers every question with a record of its own in the additional section.
const fellThrough = "fell through"

// question asks for one name and says what comes back: the records in order, as strings without owner and TTL, or
// NODATA, NXDOMAIN, the name of another rcode, or fellThrough.
type question struct {
	name  string
	qtype uint16
	want  string
}

func check(t *testing.T, s *server.Server, questions []question) {
	t.Helper()
	for _, q := range questions {
		if got := describe(s.Ask(t, q.name, q.qtype)); got != q.want {
			t.Errorf("%s %s: got %q, want %q", q.name, dns.TypeToString[q.qtype], got, q.want)
		}
	}
}

func describe(m *dns.Msg) string {
	switch {
	case len(m.Answer) > 0:
		var all []string
		for _, rr := range m.Answer {
			all = append(all, strings.TrimPrefix(rr.String(), rr.Header().String()))
		}
		return strings.Join(all, " ")
	case len(m.Extra) > 0 && m.Extra[0].Header().Rrtype != dns.TypeOPT:
		return fellThrough
	case m.Rcode == dns.RcodeSuccess && len(m.Ns) == 1 && m.Ns[0].Header().Rrtype == dns.TypeSOA:
		return "NODATA"
	}
	return dns.RcodeToString[m.Rcode]
}

// write makes a hosts file and returns its path.
func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// serve starts a server for the root zone with a hosts block whose body is given, in front of whoami.
func serve(t testing.TB, file, body string) *server.Server {
	t.Helper()
	return server.Start(t, fmt.Sprintf(".:0 {\n hosts %s {\n%s\n}\n whoami\n}\n", file, body))
}

const sample = `
127.0.0.1 localhost localhost.domain
::1 localhost localhost.domain
10.0.0.1 example.org
::FFFF:10.0.0.2 example.com
10.0.0.3 Mixed.Example.Net.
10.0.0.4 two.example.org
10.0.0.5 two.example.org # and a comment
fe80::1%eth0 scoped.example.org
10.0.0.6 a.b.c.example.org
321.321.321.321 bogus.example.org
`

func TestNamesAndAddresses(t *testing.T) {
	s := serve(t, write(t, sample), "")
	check(t, s, []question{
		{"example.org.", dns.TypeA, "10.0.0.1"},
		{"example.com.", dns.TypeA, "10.0.0.2"},
		{"localhost.", dns.TypeAAAA, "::1"},
		{"localhost.domain.", dns.TypeA, "127.0.0.1"},
		{"mixed.example.net.", dns.TypeA, "10.0.0.3"},
		{"two.example.org.", dns.TypeA, "10.0.0.4 10.0.0.5"},
		{"scoped.example.org.", dns.TypeAAAA, "fe80::1"},
		{"example.org.", dns.TypeAAAA, "NODATA"},
		{"example.com.", dns.TypeAAAA, "NODATA"},
		{"example.org.", dns.TypeMX, "NODATA"},
		{"example.org.", dns.TypeHTTPS, "NODATA"},
		{"bogus.example.org.", dns.TypeA, "SERVFAIL"},
		{"nowhere.test.", dns.TypeA, "SERVFAIL"},
	})
}

func TestReverseNamesInTheOrderOfTheLines(t *testing.T) {
	s := serve(t, write(t, `
10.0.0.1 canonical alias1 alias2
10.0.0.2 other
10.0.0.1 later alias1
2001:db8::567:89ab six.example.org
10.0.0.9 *.wild.example.org
`), "10.0.0.1 inline.example.org")
	check(t, s, []question{
		{"1.0.0.10.in-addr.arpa.", dns.TypePTR, "canonical. alias1. alias2. later. inline.example.org."},
		{"b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", dns.TypePTR, "six.example.org."},
		{"9.0.0.10.in-addr.arpa.", dns.TypePTR, fellThrough}, // a wildcard is no name
		{"3.0.0.10.in-addr.arpa.", dns.TypePTR, fellThrough},
		{"01.0.0.10.in-addr.arpa.", dns.TypePTR, fellThrough},
		{"256.0.0.10.in-addr.arpa.", dns.TypePTR, fellThrough},
		{"canonical.", dns.TypePTR, fellThrough},
	})
}

func TestNoReverse(t *testing.T) {
	s := serve(t, write(t, sample), "no_reverse")
	check(t, s, []question{
		{"1.0.0.10.in-addr.arpa.", dns.TypePTR, fellThrough},
		{"example.org.", dns.TypeA, "10.0.0.1"},
	})
}

// A name exists when one below it does (RFC 8020 section 2). Where fallthrough covers it, it falls through as ever.
func TestANameAboveOthersIsNoData(t *testing.T) {
	parents := func(want string) []question {
		return []question{
			{"b.c.example.org.", dns.TypeA, want},
			{"c.example.org.", dns.TypeTXT, want},
			{"org.", dns.TypeA, want},
			{".", dns.TypeA, want},
		}
	}
	for body, want := range map[string]string{"": "NODATA", "nxdomain": "NODATA", "fallthrough": fellThrough} {
		t.Run("with "+body, func(t *testing.T) { check(t, serve(t, write(t, sample), body), parents(want)) })
	}
}

func TestFallthrough(t *testing.T) {
	file := write(t, sample)
	t.Run("everywhere", func(t *testing.T) {
		check(t, serve(t, file, "fallthrough"), []question{
			{"nowhere.test.", dns.TypeA, fellThrough},
			{"nowhere.test.", dns.TypeTXT, fellThrough},
			{"example.org.", dns.TypeAAAA, "NODATA"},
			{"example.org.", dns.TypeTXT, "NODATA"},
		})
	})
	t.Run("in some zones", func(t *testing.T) {
		check(t, serve(t, file, "fallthrough test"), []question{
			{"nowhere.test.", dns.TypeA, fellThrough},
			{"nowhere.example.", dns.TypeA, "SERVFAIL"},
		})
	})
	t.Run("of other types", func(t *testing.T) {
		check(t, serve(t, file, "fallthrough org\nfallthrough_unsupported"), []question{
			{"example.org.", dns.TypeTXT, fellThrough},
			{"example.com.", dns.TypeTXT, "NODATA"}, // outside of the zones of fallthrough
			{"example.org.", dns.TypeAAAA, "NODATA"},
		})
	})
}

func TestNXDomain(t *testing.T) {
	s := serve(t, write(t, sample), "nxdomain\nfallthrough test")
	check(t, s, []question{
		{"nowhere.example.", dns.TypeA, "NXDOMAIN"},
		{"nowhere.example.", dns.TypeTXT, "NXDOMAIN"},
		{"9.9.9.9.in-addr.arpa.", dns.TypePTR, "NXDOMAIN"},
		{"nowhere.test.", dns.TypeA, fellThrough},
	})
	m := s.Ask(t, "nowhere.example.", dns.TypeA)
	if len(m.Ns) != 1 || m.Ns[0].Header().Rrtype != dns.TypeSOA || !m.Authoritative {
		t.Errorf("want an authoritative answer with an SOA record (RFC 2308 section 3), got\n%v", m)
	}
}

// RFC 2308 section 3: the TTL of the SOA record bounds how long the answer is remembered, and its minimum as well.
func TestNoDataCanBeCached(t *testing.T) {
	s := server.Start(t, fmt.Sprintf("example.org:0 {\n hosts %s {\n ttl 30\n}\n}\n", write(t, sample)))
	m := s.Ask(t, "example.org.", dns.TypeAAAA)
	if len(m.Ns) != 1 {
		t.Fatalf("want an SOA record, got\n%v", m)
	}
	soa, ok := m.Ns[0].(*dns.SOA)
	if !ok || soa.Hdr.Name != "example.org." || soa.Hdr.Ttl != 30 || soa.Minttl != 30 || soa.Serial < 2 {
		t.Errorf("got %v", m.Ns[0])
	}
}

func TestZones(t *testing.T) {
	s := server.Start(t, fmt.Sprintf(".:0 {\n hosts %s example.org 10.0.0.0/24 {\n}\n whoami\n}\n", write(t, sample+`
10.0.0.1 elsewhere.test
10.0.0.7 *.org
`)))
	check(t, s, []question{
		{"two.example.org.", dns.TypeA, "10.0.0.4 10.0.0.5"},
		{"elsewhere.test.", dns.TypeA, fellThrough},
		{"notexample.org.", dns.TypeA, fellThrough},
		{"nowhere.example.org.", dns.TypeA, "SERVFAIL"},
		{"1.0.0.10.in-addr.arpa.", dns.TypePTR, "example.org."}, // only names inside the zones
		{"1.0.0.127.in-addr.arpa.", dns.TypePTR, fellThrough},
	})
}

// The wildcard above the zone is not the zone's, though the zone's apex would match it.
func TestAWildcardAboveTheZoneIsOutside(t *testing.T) {
	for _, mode := range []string{"one", "deep"} {
		t.Run(mode, func(t *testing.T) {
			s := server.Start(t, fmt.Sprintf(".:0 {\n hosts %s a.example.org {\nwildcards %s\n}\n}\n",
				write(t, "10.0.0.7 *.example.org\n"), mode))
			m := s.Ask(t, "a.example.org.", dns.TypeA)
			if m.Rcode != dns.RcodeServerFailure {
				t.Errorf("got %s", describe(m))
			}
		})
	}
}

func TestTTL(t *testing.T) {
	for body, want := range map[string]uint32{"": 3600, "ttl 1": 1, "ttl 65535": 65535} {
		t.Run("with "+body, func(t *testing.T) {
			s := serve(t, write(t, sample), body)
			for name, qtype := range map[string]uint16{"example.org.": dns.TypeA, "1.0.0.10.in-addr.arpa.": dns.TypePTR} {
				if got := s.Ask(t, name, qtype).Answer[0].Header().Ttl; got != want {
					t.Errorf("%s: TTL %d, want %d", name, got, want)
				}
			}
		})
	}
}

// RFC 1034 section 3.6 has a set of records; RFC 2181 section 5 forbids the same one twice.
func TestNoRecordTwice(t *testing.T) {
	s := serve(t, write(t, "10.0.0.1 a\n10.0.0.1 a A.\n10.0.0.2 a\n"), "10.0.0.2 a\n10.0.0.3 a\n10.0.0.1 a")
	check(t, s, []question{
		{"a.", dns.TypeA, "10.0.0.1 10.0.0.2 10.0.0.3"},
		{"1.0.0.10.in-addr.arpa.", dns.TypePTR, "a."},
	})
}

// RFC 4343 section 4: a server gives the name back as it was asked.
func TestTheAnswerHasTheCaseOfTheQuestion(t *testing.T) {
	s := serve(t, write(t, sample), "")
	m := s.Ask(t, "eXaMpLe.ORG.", dns.TypeA)
	if len(m.Answer) != 1 || m.Answer[0].Header().Name != "eXaMpLe.ORG." {
		t.Errorf("got %v", m.Answer)
	}
}

func TestOnlyQueriesAreAnswered(t *testing.T) {
	s := serve(t, write(t, sample), "")
	m := new(dns.Msg)
	m.SetNotify("example.org.")
	m.Question[0].Qtype = dns.TypeA
	if r := s.Exchange(t, m, "udp"); len(r.Answer) > 0 {
		t.Errorf("a NOTIFY was answered from the hosts file:\n%v", r)
	}
}

func TestAnswersOverTCPCarryWhatUDPCannot(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "10.1.0.%d many.example.org\n", i)
	}
	s := serve(t, write(t, b.String()), "")
	m := new(dns.Msg)
	m.SetQuestion("many.example.org.", dns.TypeA)
	if r := s.Exchange(t, m, "udp"); !r.Truncated {
		t.Errorf("200 addresses in 512 octets: %d records, not truncated", len(r.Answer))
	}
	if r := s.Exchange(t, m, "tcp"); len(r.Answer) != 200 {
		t.Errorf("%d records over TCP, want 200", len(r.Answer))
	}
}
