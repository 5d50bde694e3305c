package forward

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// serve starts a server with one forward block for all names, to the upstreams in the order given.
func serve(t *testing.T, properties string, ups ...*dnstest.Server) *server.Server {
	t.Helper()
	return start(t, fmt.Sprintf(".:0 {\n%s\n}\n", stanza(properties, ups...)), ups...)
}

// start starts a server. Its upstreams end before it does, so that their goroutines are not taken for its own.
func start(t *testing.T, corefile string, ups ...*dnstest.Server) *server.Server {
	t.Helper()
	s := server.Start(t, corefile)
	settle(t, s)
	for _, up := range ups {
		t.Cleanup(up.Stop)
	}
	return s
}

// settle returns when s serves both UDP and TCP: a listener that is stopped before it has begun to serve stays behind.
// No plugin gets to see a question of another EDNS version (RFC 6891, section 6.1.3).
func settle(t *testing.T, s *server.Server) {
	t.Helper()
	for _, network := range []string{"udp", "tcp"} {
		m := new(dns.Msg)
		m.SetQuestion(".", dns.TypeNS)
		m.SetEdns0(dns.MinMsgSize, false)
		m.IsEdns0().SetVersion(1)
		wantRcode(t, s.Exchange(t, m, network), dns.RcodeBadVers)
	}
}

// stanza is a forward block for all names.
func stanza(properties string, ups ...*dnstest.Server) string {
	to := make([]string, len(ups))
	for i, up := range ups {
		to[i] = up.Addr().String()
	}
	return fmt.Sprintf("forward . %s {\n%s\n}", strings.Join(to, " "), properties)
}

// wantA fails the test unless r is a positive answer with this address alone.
func wantA(t *testing.T, r *dns.Msg, addr string) {
	t.Helper()
	if r.Rcode != dns.RcodeSuccess || len(r.Answer) != 1 {
		t.Fatalf("want the address %s, got\n%s", addr, r)
	}
	if a, ok := r.Answer[0].(*dns.A); !ok || a.A.String() != addr {
		t.Fatalf("want the address %s, got\n%s", addr, r)
	}
}

// wantRcode fails the test unless r has this rcode and no answer.
func wantRcode(t *testing.T, r *dns.Msg, rcode int) {
	t.Helper()
	if r.Rcode != rcode || len(r.Answer) != 0 {
		t.Fatalf("want %s without an answer, got\n%s", dns.RcodeToString[rcode], r)
	}
}

func TestAQuestionIsAnsweredByTheUpstream(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "", up)
	for _, network := range []string{"udp", "tcp"} {
		m := new(dns.Msg)
		m.SetQuestion("eXaMple.org.", dns.TypeA)
		r := s.Exchange(t, m, network)
		wantA(t, r, "192.0.2.1")
		if r.Question[0].Name != "eXaMple.org." || r.Id != m.Id {
			t.Errorf("%s: not the client's question and ID:\n%s", network, r)
		}
		if n := up.Questions(network); n != 1 {
			t.Errorf("%d questions over %s, want 1: an upstream is asked the way the client asked", n, network)
		}
	}
}

// runningUpstream finds the resolver that a running server uses for up, by the configuration that it runs with.
func runningUpstream(t *testing.T, properties string, up *dnstest.Server, all ...*dnstest.Server) *member {
	t.Helper()
	b := mustParse(t, stanza(properties, all...))
	owner := shared.New()
	defer owner.Release()
	r, err := rosters.Acquire(owner, rosterKey(b), func() (*roster, error) { return nil, errors.New("not in use") })
	if err != nil {
		t.Fatalf("upstreams of the server: %v", err)
	}
	for _, m := range r.current.Load().members {
		if m.Addr() == up.Addr().String() {
			return m
		}
	}
	t.Fatalf("no upstream at %s", up.Addr())
	return nil
}
