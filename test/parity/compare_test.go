package parity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// difference is one way in which our answers differ from stock's on purpose.
type difference struct {
	reason string
	// want turns stock's reply into ours. It returns nil where the difference does not apply, and may change m.
	want func(q question, m *dns.Msg) *dns.Msg
}

// compare asks both servers all questions and fails on every reply that differs from stock's in any other way than the
// listed differences say, which are applied to stock's reply in their order. minimum guards against a generator that lost its questions.
func compare(t *testing.T, stock string, ours *server.Server, qs []question, minimum int, known []difference, seen ledger) {
	t.Helper()
	if len(qs) < minimum {
		t.Fatalf("%d questions, want at least %d", len(qs), minimum)
	}
	for _, d := range known {
		seen[d.reason] += 0 // listed, if only by this
	}
	failed := 0
	for _, q := range qs {
		want := exchange(t, stock, q)
		got := exchange(t, address(ours, q), q)
		applied := []string{}
		for _, d := range known {
			if m := d.want(q, want.Copy()); m != nil && text(m) != text(want) {
				want = m
				seen[d.reason]++
				applied = append(applied, d.reason)
			}
		}
		if got.Truncated && want.Truncated {
			// What is left of a truncated answer does not count: the client must ask again over TCP (RFC 2181 9).
			got, want = headerOnly(got), headerOnly(want)
		}
		if text(got) != text(want) {
			if failed++; failed <= 20 {
				t.Errorf("%v\n--- stock, with the differences %q:\n%s\n+++ ours:\n%s", q, applied, text(want), text(got))
			}
		}
	}
	if failed > 20 {
		t.Errorf("%d more questions differ", failed-20)
	}
	t.Logf("%d questions, %d differ from stock in ways that are not listed", len(qs), failed)
}

// ledger counts, over all servers that a test compares, the questions that show each listed difference.
type ledger map[string]int

// check fails for every difference that is listed although no question shows it.
func (l ledger) check(t *testing.T) {
	t.Helper()
	for reason, n := range l {
		if n == 0 {
			t.Errorf("listed difference %q: no question shows it", reason)
		}
	}
}

func headerOnly(m *dns.Msg) *dns.Msg {
	m = m.Copy()
	m.Answer, m.Ns, m.Extra = nil, nil, nil
	return m
}

func address(s *server.Server, q question) string {
	if q.tcp {
		return s.Addrs("tcp")[0]
	}
	return s.Addrs("udp")[0]
}

func exchange(t *testing.T, addr string, q question) *dns.Msg {
	t.Helper()
	c := &dns.Client{Timeout: server.AskTimeout, UDPSize: dns.MaxMsgSize}
	if q.tcp {
		c.Net = "tcp"
	}
	r, _, err := c.Exchange(q.msg(), addr)
	if err != nil {
		t.Fatalf("%v at %s: %v", q, addr, err)
	}
	return r
}

// text is everything of a reply but its ID, a line a record. The additional section is sorted, since its order means
// nothing, and the OPT record comes last.
func text(m *dns.Msg) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s qr=%t aa=%t tc=%t rd=%t ra=%t ad=%t cd=%t z=%t\n", dns.OpcodeToString[m.Opcode],
		dns.RcodeToString[m.Rcode], m.Response, m.Authoritative, m.Truncated, m.RecursionDesired, m.RecursionAvailable,
		m.AuthenticatedData, m.CheckingDisabled, m.Zero)
	for _, q := range m.Question {
		fmt.Fprintf(&b, "?  %s %s %s\n", q.Name, dns.Class(q.Qclass), dns.Type(q.Qtype))
	}
	var opt *dns.OPT
	for _, section := range []struct {
		mark string
		rrs  []dns.RR
	}{{"an", m.Answer}, {"ns", m.Ns}, {"ar", m.Extra}} {
		var lines []string
		for _, rr := range section.rrs {
			if o, ok := rr.(*dns.OPT); ok {
				opt = o
				continue
			}
			if soa, ok := rr.(*dns.SOA); ok {
				soa.Serial = 0 // stock's is the clock
			}
			lines = append(lines, fmt.Sprintf("%s %s\n", section.mark, strings.ReplaceAll(rr.String(), "\t", " ")))
		}
		if section.mark == "ar" {
			slices.Sort(lines)
		}
		b.WriteString(strings.Join(lines, ""))
	}
	if opt != nil {
		fmt.Fprintf(&b, "opt size=%d do=%t options=%v\n", opt.UDPSize(), opt.Do(), opt.Option)
	}
	return b.String()
}
