package main

import (
	"strings"
	"testing"
)

func TestPutWritesWhatSkyDNSWouldRead(t *testing.T) {
	s := newShell(t)
	for _, args := range []string{
		"put www.Example.org A 10.0.0.1",
		"put www.example.org. AAAA 2001:db8::1",
		"put docs.example.org CNAME pages.example.net --ttl 1m",
		"put _sip._tcp.example.org SRV 10 100 5060 sip.example.org",
		"put mail.example.org MX 20 mx.example.net",
		"put txt.example.org TXT v=spf1",
		"put 10.0.0.9 PTR nine.example.org",
		"put example.org CAA 0 issue \"ca.example\" --zone example.org",
		"put example.org NS ns1.example.net --zone example.org",
	} {
		s.run(t, strings.Fields(args)...)
	}
	s.want(t,
		`/skydns/org/example/www {"host":"10.0.0.1"}`,
		`/skydns/org/example/www/aaaa-ec16fdb9 {"host":"2001:db8::1","targetstrip":1}`,
		`/skydns/org/example/docs {"host":"pages.example.net.","ttl":60}`,
		`/skydns/org/example/_tcp/_sip {"host":"sip.example.org.","port":5060,"priority":10,"weight":100}`,
		`/skydns/org/example/mail {"host":"mx.example.net.","priority":20,"mail":true}`,
		`/skydns/org/example/txt {"text":"v=spf1"}`,
		`/skydns/arpa/in-addr/10/0/0/9 {"host":"nine.example.org."}`,
		`/skydns/org/example/dns/apex/caa-afcba355 {"type":"CAA","rdata":"0 issue \"ca.example\""}`,
		`/skydns/org/example/dns/ns/ns-a9255be4 {"host":"ns1.example.net."}`,
	)
}

func TestPutReplacesTheTypeAndNoOther(t *testing.T) {
	s := newShell(t)
	s.run(t, "put", "www.example.org", "A", "10.0.0.1", "10.0.0.2")
	s.run(t, "put", "www.example.org", "TXT", "stays as it is")
	s.run(t, "put", "www.example.org", "A", "10.0.0.2", "10.0.0.3")
	got := fields(s.run(t, "get", "www.example.org", "-o", "zone"))
	want := []string{
		"www.example.org. 300 IN A 10.0.0.2", "www.example.org. 300 IN A 10.0.0.3",
		`www.example.org. 300 IN TXT "stays as it is"`,
	}
	if sorted(got) != sorted(want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.run(t, "put", "www.example.org", "A", "10.0.0.4", "--add")
	if got := fields(s.run(t, "get", "www.example.org", "A", "-o", "zone")); len(got) != 3 {
		t.Errorf("after --add: %q, want three addresses", got)
	}
	before, rev := s.Dump("/skydns")
	s.run(t, "put", "www.example.org", "A", "10.0.0.2", "10.0.0.3", "10.0.0.4")
	if after, now := s.Dump("/skydns"); now != rev || len(after) != len(before) {
		t.Errorf("writing what is there changed revision %d to %d", rev, now)
	}
}

func TestPutBesideAddressesWritesServicesExactly(t *testing.T) {
	s := newShell(t)
	s.run(t, "put", "www.example.org", "A", "10.0.0.1")
	s.run(t, "put", "www.example.org", "MX", "10 mx1.example.net", "20 mx2.example.net")
	contains(t, s.run(t, "get", "www.example.org", "MX", "-o", "json"), `"type":"MX","rdata":"10 mx1.example.net."`)
	if got := fields(s.run(t, "get", "www.example.org", "A", "-o", "zone")); len(got) != 1 {
		t.Errorf("addresses %q, want one", got)
	}
}

func TestPTRRecordsAreKeptInStep(t *testing.T) {
	s := newShell(t)
	s.run(t, "put", "www.example.org", "A", "10.0.0.1", "10.0.0.2", "--ptr")
	s.run(t, "put", "other.example.org", "A", "10.0.0.1", "--ptr")
	s.run(t, "put", "www.example.org", "AAAA", "2001:db8::1", "--ptr")
	ptr := func() string {
		return sorted(fields(s.run(t, "ls", "arpa", "-o", "zone")))
	}
	const six = "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. 300 IN PTR www.example.org."
	if got, want := ptr(), sorted([]string{
		"1.0.0.10.in-addr.arpa. 300 IN PTR www.example.org.", "1.0.0.10.in-addr.arpa. 300 IN PTR other.example.org.",
		"2.0.0.10.in-addr.arpa. 300 IN PTR www.example.org.", six,
	}); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	s.run(t, "put", "www.example.org", "A", "10.0.0.3", "--ptr")
	if got, want := ptr(), sorted([]string{
		"1.0.0.10.in-addr.arpa. 300 IN PTR other.example.org.", "3.0.0.10.in-addr.arpa. 300 IN PTR www.example.org.", six,
	}); got != want {
		t.Errorf("after a change of addresses: %s\nwant %s", got, want)
	}
	s.run(t, "rm", "www.example.org", "--ptr")
	s.run(t, "rm", "other.example.org", "A", "10.0.0.1", "--ptr")
	s.want(t)
}

func TestPutRefusesWhatTheServerWould(t *testing.T) {
	s := newShell(t)
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"put", "www.example.org", "A", "10.0.0.256"}, exitRefused, `"10.0.0.256" is no address for A`},
		{[]string{"put", "www.example.org", "AAAA", "10.0.0.1"}, exitRefused, "no address for AAAA"},
		{[]string{"put", "www.example.org", "DNAME", "example.net"}, exitRefused, "cannot be kept"},
		{[]string{"put", "www.example.org", "SOA", "a b 1 2 3 4 5"}, exitRefused, "cannot be kept"},
		{[]string{"put", "www.example.org", "CAA", "0 issue"}, exitRefused, "bad rdata"},
		{[]string{"put", "www.example.org", "NOSUCH", "1"}, exitRefused, `"NOSUCH" is unknown`},
		{[]string{"put", strings.Repeat("a", 64) + ".example.org", "A", "10.0.0.1"}, exitRefused, "bad name"},
		{[]string{"put", "www.example.org", "JSON", `{"host":`}, exitRefused, "bad json"},
		{[]string{"put", "www.example.org", "JSON", `{"host":"10.0.0.1","port":70000}`}, exitRefused, "port 70000"},
		{[]string{"put", "www.example.org", "A", "10.0.0.1", "--ttl", "1500ms"}, exitUsage, "whole seconds"},
		{[]string{"put", "www.example.org", "A"}, exitUsage, "put wants NAME TYPE DATA"},
		{[]string{"put", "www.example.org", "A", "10.0.0.1", "--nosuch"}, exitUsage, "--nosuch"},
		{[]string{"nosuch"}, exitUsage, "nosuch"},
		{[]string{"ls", "-o", "yaml"}, exitUsage, "table, json or zone"},
	} {
		r := s.try(t, tt.args...)
		if r.code != tt.code || !strings.Contains(r.err, tt.want) {
			t.Errorf("%q: exit code %d, %q; want %d, %q", tt.args, r.code, r.err, tt.code, tt.want)
		}
	}
	s.want(t)
}

func TestDryRunWritesNothing(t *testing.T) {
	s := newShell(t)
	contains(t, s.run(t, "put", "www.example.org", "A", "10.0.0.1", "--dry-run"), `+ /skydns/org/example/www {"host":"10.0.0.1"}`)
	s.want(t)
	s.run(t, "put", "www.example.org", "A", "10.0.0.1")
	contains(t, s.run(t, "rm", "www.example.org", "--dry-run"), `- /skydns/org/example/www {"host":"10.0.0.1"}`)
	s.want(t, `/skydns/org/example/www {"host":"10.0.0.1"}`)
}

func TestALeaseLetsRecordsVanish(t *testing.T) {
	s := newShell(t)
	s.run(t, "put", "www.example.org", "A", "10.0.0.1", "--lease", "60s")
	s.run(t, "put", "a.example.org", "JSON", `{"host":"10.0.0.2"}`, "--lease", "90s")
	contains(t, s.run(t, "ls"), "(lease 60s)", "(lease 90s)")
	contains(t, s.run(t, "ls", "-o", "json"), `"lease":60`, `"lease":90`)
}
