package ede

import (
	"errors"
	"testing"

	"github.com/coredns/coredns/plugin/pkg/dnstest"
	"github.com/coredns/coredns/plugin/test"

	"github.com/miekg/dns"
)

func TestAClientThatKnowsEDNSLearnsWhy(t *testing.T) {
	r := new(dns.Msg)
	r.SetQuestion("example.org.", dns.TypeA)
	r.SetEdns0(1232, false)
	w := dnstest.NewRecorder(&test.ResponseWriter{})
	cause := errors.New("cause")
	rcode, err := Fail(w, r, dns.RcodeServerFailure, dns.ExtendedErrorCodeNotReady, "not yet", cause)
	if rcode != dns.RcodeSuccess || !errors.Is(err, cause) {
		t.Errorf("got %d and %v, want the rcode that says that a reply was written, and the cause", rcode, err)
	}
	if w.Msg == nil || w.Msg.Rcode != dns.RcodeServerFailure || w.Msg.Id != r.Id {
		t.Fatalf("got %v, want a SERVFAIL to the question", w.Msg)
	}
	e, ok := w.Msg.IsEdns0().Option[0].(*dns.EDNS0_EDE)
	if !ok || e.InfoCode != dns.ExtendedErrorCodeNotReady || e.ExtraText != "not yet" {
		t.Errorf("got %v, want the extended error", w.Msg.IsEdns0())
	}
}

// RFC 6891, section 7: no OPT record for those who sent none.
func TestAClientWithoutEDNSIsLeftToCoreDNS(t *testing.T) {
	r := new(dns.Msg)
	r.SetQuestion("example.org.", dns.TypeA)
	w := dnstest.NewRecorder(&test.ResponseWriter{})
	rcode, _ := Fail(w, r, dns.RcodeRefused, dns.ExtendedErrorCodeOther, "too many", nil)
	if rcode != dns.RcodeRefused || w.Msg != nil {
		t.Errorf("got %d and wrote %v, want the rcode and nothing written", rcode, w.Msg)
	}
	m := new(dns.Msg)
	if Explain(r, m, dns.ExtendedErrorCodeOther, "why"); len(m.Extra) != 0 {
		t.Errorf("got %v, want no OPT record", m.Extra)
	}
}
