package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/test/server"

	_ "github.com/coredns/coredns/plugin/acl"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/chaos"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/template"
	_ "github.com/trident-dns/trident/etcd"
	_ "github.com/trident-dns/trident/forward"

	"github.com/miekg/dns"
)

// The Corefile that is made from a configuration of SkyDNS starts, and serves what SkyDNS served with it.
func TestCorefileServesWhatSkyDNSDid(t *testing.T) {
	s := newShell(t)
	up := dnstest.New(t, dnstest.A("192.0.2.80"))
	s.run(t, "put", "www.skydns.test", "A", "10.0.0.1")
	_, port, err := net.SplitHostPort(freeport.Addr(t))
	if err != nil {
		t.Fatal(err)
	}
	s.Put("/skydns/config", `{"dns_addr":"127.0.0.1:`+port+`","domain":"skydns.test.","ttl":77}`)
	s.env["ETCD_MACHINES"] = s.Direct()
	text := s.run(t, "corefile", "--", "-nameservers", up.Addr().String())
	srv := server.Start(t, text).At("127.0.0.1:" + port)
	deadline := time.Now().Add(server.AskTimeout)
	r := srv.Ask(t, "www.skydns.test.", dns.TypeA)
	for len(r.Answer) == 0 && time.Now().Before(deadline) {
		r = srv.Ask(t, "www.skydns.test.", dns.TypeA)
	}
	if len(r.Answer) != 1 || r.Answer[0].(*dns.A).A.String() != "10.0.0.1" || r.Answer[0].Header().Ttl != 77 {
		t.Errorf("from etcd: %v", r)
	}
	if r := srv.Ask(t, "www.example.org.", dns.TypeA); len(r.Answer) != 1 || r.Answer[0].(*dns.A).A.String() != "192.0.2.80" {
		t.Errorf("forwarded: %v", r)
	}
	if r := srv.Ask(t, "single.", dns.TypeA); r.Rcode != dns.RcodeServerFailure {
		t.Errorf("a name of one label: %v", r)
	}
	if r := srv.Ask(t, "www.skydns.test.", dns.TypeANY); r.Rcode != dns.RcodeRefused {
		t.Errorf("ANY: %v", r)
	}
}

func TestCorefileReadsTheJSONOfAFile(t *testing.T) {
	s := newShell(t)
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(`{"domain":"from.file","stubzones":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, s.run(t, "corefile", "--config", path), "etcd from.file.", "stubzones", "unknown to SkyDNS")
	s.in = `{"domain":"from.stdin"}`
	contains(t, s.run(t, "corefile", "--config", "-"), "etcd from.stdin.")
	contains(t, s.run(t, "corefile", "--no-etcd", "--prefix", "/dns/a"), "etcd skydns.local.", "path /dns/a\n")
	if r := s.try(t, "corefile", "--config", path, "--no-etcd"); r.code != exitUsage {
		t.Errorf("exit code %d, want %d: %s", r.code, exitUsage, r.err)
	}
	if r := s.try(t, "corefile", "--no-etcd", "--", "-colour"); r.code != exitRefused || !strings.Contains(r.err, "colour") {
		t.Errorf("exit code %d, want %d: %s", r.code, exitRefused, r.err)
	}
}
