package server_test

import (
	"strings"
	"testing"

	"github.com/coredns/coredns/core/dnsserver"
	_ "github.com/coredns/coredns/plugin/whoami"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

func TestAsksOverBothTransportsAndReloads(t *testing.T) {
	if err := dnsserver.SetDirectives([]string{"whoami"}); err != nil {
		t.Fatal(err)
	}
	s := server.Start(t, ".:0 {\n whoami\n}")
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeA)
	for _, network := range []string{"udp", "tcp"} {
		if r := s.Exchange(t, m, network); r.Rcode != dns.RcodeSuccess || len(r.Extra) == 0 {
			t.Errorf("%s: got %v, want whoami's answer", network, r)
		}
	}
	if err := s.Reload(t, ".:0 {\n nosuch\n}"); err == nil {
		t.Error("an unknown directive was accepted")
	}
	if r := s.Ask(t, "example.org", dns.TypeA); len(r.Extra) == 0 {
		t.Error("the old configuration does not answer after a failed reload")
	}
	if err := s.Reload(t, ".:0 {\n}"); err != nil {
		t.Fatal(err)
	}
	if r := s.Ask(t, "example.org", dns.TypeA); r.Rcode != dns.RcodeRefused {
		t.Errorf("rcode %s after the reload, want REFUSED", dns.RcodeToString[r.Rcode])
	}
}

func TestStartErrorNamesTheDirective(t *testing.T) {
	if err := server.StartError(t, ".:0 {\n nosuch\n}"); !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("error %q, want the directive in it", err)
	}
}
