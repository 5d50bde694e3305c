package main

import (
	"strings"
	"testing"
)

func TestStubZonesAreKeptAsTheServerReadsThem(t *testing.T) {
	s := newShell(t)
	s.Put("/skydns/org/example/dns/stub/com/corp/10.1.0.1", `{"host":"10.1.0.1"}`)
	s.run(t, "stub", "add", "Corp.com", "10.1.0.1", "10.1.0.53:54", "[2001:db8::53]:5353", "--zone", "example.org")
	s.run(t, "stub", "add", "a.corp.com", "10.2.0.1", "--zone", "example.org")
	want := []string{
		`/skydns/org/example/dns/stub/com/corp/10.1.0.1 {"host":"10.1.0.1"}`,
		`/skydns/org/example/dns/stub/com/corp/10-1-0-53-54 {"host":"10.1.0.53","port":54}`,
		`/skydns/org/example/dns/stub/com/corp/2001-db8--53-5353 {"host":"2001:db8::53","port":5353}`,
		`/skydns/org/example/dns/stub/com/corp/a/10-2-0-1-53 {"host":"10.2.0.1","port":53}`,
	}
	s.want(t, want...)
	contains(t, strings.Join(fields(s.run(t, "stub", "ls")), "\n"),
		"corp.com. - stub 10.1.0.1:53", "corp.com. - stub [2001:db8::53]:5353", "a.corp.com. - stub 10.2.0.1:53")

	s.run(t, "stub", "rm", "corp.com", "10.1.0.53:54", "10.1.0.1", "--zone", "example.org")
	s.want(t, want[2], want[3])
	s.run(t, "stub", "rm", "corp.com", "--zone", "example.org")
	s.want(t, want[3])

	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"add", "example.org", "10.0.0.1", "--zone", "example.org"}, exitRefused, "is the zone itself"},
		{[]string{"add", "corp.com", "ns.corp.com", "--zone", "example.org"}, exitRefused, "have no names"},
		{[]string{"add", "corp.com", "10.0.0.1"}, exitUsage, "--zone is missing"},
		{[]string{"rm", "nosuch.com", "--zone", "example.org"}, exitNotFound, "no record"},
	} {
		if r := s.try(t, append([]string{"stub"}, tt.args...)...); r.code != tt.code || !strings.Contains(r.err, tt.want) {
			t.Errorf("stub %q: exit code %d, %s; want %d, %q", tt.args, r.code, r.err, tt.code, tt.want)
		}
	}
}
