package forward

import (
	"fmt"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"

	_ "github.com/coredns/coredns/plugin/whoami"
	"github.com/miekg/dns"
)

func TestFailoverAsksTheOthersAndHandsOnTheLastReply(t *testing.T) {
	first := dnstest.New(t, dnstest.Rcode(dns.RcodeServerFailure))
	second := dnstest.New(t, dnstest.Rcode(dns.RcodeRefused))
	third := dnstest.New(t, dnstest.A("192.0.2.3"))
	s := serve(t, "policy sequential\nfailover SERVFAIL REFUSED", first, second, third)
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.3")
	third.Use(dnstest.Rcode(dns.RcodeRefused))
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeRefused)
	for i, up := range []*dnstest.Server{first, second, third} {
		if n := up.Questions(""); n != 2 {
			t.Errorf("upstream %d was asked %d times by two questions", i+1, n)
		}
	}
}

func TestWithoutFailoverAnyRcodeIsAnAnswer(t *testing.T) {
	first, second := dnstest.New(t, dnstest.Rcode(dns.RcodeServerFailure)), dnstest.New(t, dnstest.A("192.0.2.2"))
	s := serve(t, "policy sequential", first, second)
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	if n := second.Questions(""); n != 0 {
		t.Errorf("the second upstream was asked %d times", n)
	}
}

// E10: with an upstream that is down, the walk came round and asked the same one again; and a late failure lost the last
// real answer.
func TestFailoverAsksNobodyTwiceAndKeepsTheAnswerItHas(t *testing.T) {
	refusing := dnstest.New(t, dnstest.Rcode(dns.RcodeRefused))
	silent := dnstest.New(t, dnstest.Drop)
	s := serve(t, "policy sequential\nfailover REFUSED\nread_timeout 50ms\nmax_fails 0", refusing, silent)
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeRefused)
	if n := refusing.Questions(""); n != 1 {
		t.Errorf("the upstream that answered was asked %d times", n)
	}
}

func TestNextAsksTheNextForwardBlock(t *testing.T) {
	first := dnstest.New(t, dnstest.Rcode(dns.RcodeNameError))
	second := dnstest.New(t, dnstest.Rcode(dns.RcodeServerFailure))
	third := dnstest.New(t, dnstest.A("192.0.2.3"))
	s := start(t, fmt.Sprintf(".:0 {\n%s\n%s\n%s\n}", stanza("next NXDOMAIN", first),
		stanza("next NXDOMAIN SERVFAIL", second), stanza("", third)))
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.3")
	first.Use(dnstest.Rcode(dns.RcodeRefused))
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeRefused)
}

func TestNextOnNodataAsksTheNextForwardBlock(t *testing.T) {
	first, second := dnstest.New(t, dnstest.Rcode(dns.RcodeSuccess)), dnstest.New(t, dnstest.A("192.0.2.2"))
	s := start(t, fmt.Sprintf(".:0 {\n%s\n%s\n}", stanza("next_on_nodata", first), stanza("", second)))
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.2")
	first.Use(dnstest.A("192.0.2.1"))
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	first.Use(dnstest.Rcode(dns.RcodeNameError))
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeNameError)
}

// next leads into another forward block and nowhere else, whatever plugin follows.
func TestNextDoesNotLeadOutOfForward(t *testing.T) {
	up := dnstest.New(t, dnstest.Rcode(dns.RcodeNameError))
	s := start(t, fmt.Sprintf(".:0 {\nwhoami\n%s\n}", stanza("next NXDOMAIN\nnext_on_nodata", up)))
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeNameError)
	up.Use(dnstest.Rcode(dns.RcodeSuccess))
	wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeSuccess)
}

func TestAnExceptedNameGoesToTheNextPlugin(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := start(t, fmt.Sprintf(".:0 {\nwhoami\n%s\n}", stanza("except example.org", up)))
	if r := s.Ask(t, "example.org.", dns.TypeA); len(r.Extra) == 0 { // whoami answers in the additional section
		t.Errorf("not answered by the next plugin:\n%s", r)
	}
	if n := up.Questions(""); n != 0 {
		t.Errorf("the upstream was asked %d times", n)
	}
}
