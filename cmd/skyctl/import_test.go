package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/proctest"
)

const zoneFile = `$ORIGIN example.org.
$TTL 1h
@ IN SOA ns1 hostmaster 1 7200 1800 86400 30
@ NS ns1
@ NS ns.example.net.
@ MX 10 mail
@ A 192.0.2.1
ns1 A 192.0.2.53
www A 192.0.2.80
www A 192.0.2.81
www AAAA 2001:db8::80
mail 60 A 192.0.2.25
*.wild TXT "any" "of these"
docs CNAME www
_sip._tcp SRV 0 0 5060 mail
sub NS ns.sub
ns.sub A 192.0.2.99
@ CAA 0 issue "ca.example"
a TYPE65400 \# 2 abcd
`

func TestAZoneFileComesBackAsItWas(t *testing.T) {
	s := newShell(t)
	s.in = zoneFile
	r := s.try(t, "import", "-")
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	contains(t, r.err, "soa ns1.example.org. hostmaster.example.org. 7200 1800 86400", "16 added, 0 changed, 0 deleted")
	got := fields(s.run(t, "export", "example.org", "-o", "zone"))
	want := strings.Split(`example.org. 3600 IN NS ns1.example.org.
example.org. 3600 IN NS ns.example.net.
example.org. 3600 IN MX 10 mail.example.org.
example.org. 3600 IN A 192.0.2.1
ns1.example.org. 3600 IN A 192.0.2.53
www.example.org. 3600 IN A 192.0.2.80
www.example.org. 3600 IN A 192.0.2.81
www.example.org. 3600 IN AAAA 2001:db8::80
mail.example.org. 60 IN A 192.0.2.25
*.wild.example.org. 3600 IN TXT "any" "of these"
docs.example.org. 3600 IN CNAME www.example.org.
_sip._tcp.example.org. 3600 IN SRV 0 0 5060 mail.example.org.
sub.example.org. 3600 IN NS ns.sub.example.org.
ns.sub.example.org. 3600 IN A 192.0.2.99
example.org. 3600 IN CAA 0 issue "ca.example"
a.example.org. 3600 CLASS1 TYPE65400 \# 2 abcd`, "\n")
	if sorted(got) != sorted(want) {
		t.Errorf("got\n%s\nwant\n%s", sorted(got), sorted(want))
	}

	_, rev := s.Dump("/skydns")
	contains(t, s.try(t, "import", "-", "--prune").err, "0 added, 0 changed, 0 deleted, 16 as they were")
	if _, now := s.Dump("/skydns"); now != rev {
		t.Errorf("the second import of the same file went from revision %d to %d", rev, now)
	}
}

func TestPruneMakesTheZoneWhatTheFileSays(t *testing.T) {
	s := newShell(t)
	s.Put("/skydns/org/example/old", `{"host":"10.0.0.1"}`)
	s.Put("/skydns/org/example/bad", `{`)
	s.Put("/skydns/org/example/dns/stub/net/lab/a", `{"host":"10.0.0.2"}`)
	s.Put("/skydns/org/other", `{"host":"10.0.0.3"}`)
	s.Put("/skydns/config", `{"domain":"example.org."}`)
	s.Put("/skydns/arpa/in-addr/10/0/0/1", `{"host":"old.example.org"}`)
	s.Put("/skydns/arpa/in-addr/10/0/0/3", `{"host":"other.org"}`)
	s.in = "10.0.0.9 www.example.org www2.example.org # a comment\n"
	if r := s.try(t, "import", "-", "--prune"); r.code != exitUsage {
		t.Errorf("--prune without a zone: exit code %d, %s", r.code, r.err)
	}
	s.run(t, "import", "-", "--prune", "--ptr", "--zone", "example.org")
	s.want(t,
		`/skydns/org/example/www {"host":"10.0.0.9"}`,
		`/skydns/org/example/www2 {"host":"10.0.0.9"}`,
		`/skydns/org/example/dns/stub/net/lab/a {"host":"10.0.0.2"}`,
		`/skydns/org/other {"host":"10.0.0.3"}`,
		`/skydns/config {"domain":"example.org."}`,
		`/skydns/arpa/in-addr/10/0/0/3 {"host":"other.org"}`,
		`/skydns/arpa/in-addr/10/0/0/9 {"host":"www.example.org."}`,
	)
}

func TestImportShowsTheDifferenceAndADryRunNothingElse(t *testing.T) {
	s := newShell(t)
	s.Put("/skydns/org/example/www", `{"host":"10.0.0.1"}`)
	s.Put("/skydns/org/example/same", `{"host":"10.0.0.2"}`)
	s.in = `{"key":"/skydns/org/example/www","value":{"host":"10.0.0.9"}}
{"name":"new.example.org","value":{"host":"10.0.0.3"},"lease":60}
{"key":"/skydns/org/example/same","value":{"host":"10.0.0.2"}}
`
	want := `+ /skydns/org/example/new {"host":"10.0.0.3"} (lease 60s)
- /skydns/org/example/www {"host":"10.0.0.1"}
+ /skydns/org/example/www {"host":"10.0.0.9"}
`
	r := s.try(t, "import", "-", "--dry-run")
	if r.out != want || !strings.Contains(r.err, "1 added, 1 changed, 0 deleted, 1 as they were; dry run") {
		t.Errorf("%s%s", r.out, r.err)
	}
	s.want(t, `/skydns/org/example/www {"host":"10.0.0.1"}`, `/skydns/org/example/same {"host":"10.0.0.2"}`)
	if out := s.run(t, "import", "-"); out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
}

func TestOneRecordThatIsRefusedKeepsAllFromBeingWritten(t *testing.T) {
	s := newShell(t)
	s.in = `{"key":"/skydns/org/example/www","value":{"host":"10.0.0.9"}}
{"key":"/skydns/org/example/bad","value":{"host":"10.0.0.9","port":70000}}
{"key":"/skydns/org/example/worse","value":"{\"host\":"}
{"key":"/other/org/example/where","value":{"host":"10.0.0.9"}}
`
	r := s.try(t, "import", "-")
	if r.code != exitRefused {
		t.Errorf("exit code %d, want %d", r.code, exitRefused)
	}
	contains(t, r.err, "port 70000", "bad json", "not below /skydns", "3 of the records")
	s.want(t)
	s.run(t, "import", "-", "--skip-refused")
	s.want(t, `/skydns/org/example/www {"host":"10.0.0.9"}`)

	s.in = "$ORIGIN example.org.\nwww 60 A 10.0.0.1\nold 60 DNAME example.net.\nch 60 CH TXT \"x\"\n"
	r = s.try(t, "import", "-")
	contains(t, r.err, "DNAME cannot be kept", "class is not IN")
	if r.code != exitRefused {
		t.Errorf("exit code %d, want %d", r.code, exitRefused)
	}
}

// The answer of an etcd of version 2, with what SkyDNS, its users and their programs left there over the years.
func TestADumpOfVersion2IsLoadedWithItsTTLs(t *testing.T) {
	dump, err := os.ReadFile("testdata/v2.json")
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	r := s.try(t, "import", filepath.Join("testdata", "v2.json"))
	if r.code != exitRefused {
		t.Errorf("exit code %d, want %d: %s", r.code, exitRefused, r.err)
	}
	contains(t, r.err, "/skydns/local/skydns/east/broken", "left out 1 keys that are not below /skydns")
	s.in = string(dump)
	r = s.try(t, "import", "-", "--skip-refused")
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	contains(t, r.err, "wrote 1 keys in lower case")
	s.want(t,
		`/skydns/config {"dns_addr":"127.0.0.1:53","ttl":3600,"nameservers":["8.8.8.8:53"]}`,
		`/skydns/local/skydns/east/production/rails/1 {"host":"service1.skydns.local","port":8080}`,
		`/skydns/local/skydns/east/production/rails/2 {"Host":"10.0.0.2","port":"8080","unknown":[1]}`,
		`/skydns/local/skydns/west {"host":"10.0.0.3"}`,
		`/skydns/local/skydns/dns/stub/com/example/xx {"host":"192.168.0.1"}`,
	)
	contains(t, s.run(t, "ls"), "(lease 60s)", "(lease 90s)")
}

func TestTheFormOfAFileIsToldFromItsText(t *testing.T) {
	s := newShell(t)
	dir := t.TempDir()
	files := []string{
		proctest.WriteFile(t, dir, "hosts", "\xef\xbb\xbf# old\n127.0.0.1 localhost\n::1 six.example.org\n"),
		proctest.WriteFile(t, dir, "zone", "; comment\nseven.example.org. 60 IN A 10.0.0.7\n"),
		proctest.WriteFile(t, dir, "json", "{\n\"name\":\"eight.example.org\",\n\"value\":{ \"host\": \"10.0.0.8\" }\n}"),
	}
	r := s.try(t, append([]string{"import"}, files...)...)
	contains(t, r.err, "left out 1 names without a dot")
	s.want(t,
		`/skydns/org/example/six {"host":"::1"}`,
		`/skydns/org/example/seven {"host":"10.0.0.7","ttl":60}`,
		`/skydns/org/example/eight {"host":"10.0.0.8"}`,
	)
}

func TestTextsThatCannotBeReadAreNamedWithTheirLine(t *testing.T) {
	s := newShell(t)
	for _, tt := range []struct{ format, text, want string }{
		{"zone", "$ORIGIN example.org.\nwww A 10.0.0.256\n", "at line: 2"},
		{"zone", "$ORIGIN a.\n$INCLUDE /etc/passwd\n", "$INCLUDE"},
		{"zone", "a. 1 SOA a. b. 1 2 3 4 5\nb. 1 SOA a. b. 1 2 3 4 5\n", "two zones"},
		{"hosts", "10.0.0.1 a.b\n10.0.0 c.d\n", `line 2: "10.0.0" is no address`},
		{"hosts", "10.0.0.1\n", "line 1: no name"},
		{"json", "{\"key\":\"/skydns/a\",\"value\":{}}\n{\"kay\":1}\n", `line 2: json: unknown field "kay"`},
		{"json", "{\"value\":{}}\n", "line 1: neither"},
		{"json", "{\"key\":\"/skydns/a\"}\n", `no "value"`},
		{"v2", `{"errorCode":100,"message":"Key not found","cause":"/skydns"}`, "Key not found"},
		{"v2", `{}`, `no "node"`},
	} {
		s.in = tt.text
		r := s.try(t, "import", "-", "--format", tt.format)
		if r.code != exitRefused || !strings.Contains(r.err, tt.want) {
			t.Errorf("%s %q: exit code %d, %s; want %q", tt.format, tt.text, r.code, r.err, tt.want)
		}
	}
	if r := s.try(t, "import", "/nosuch"); r.code != exitFailed {
		t.Errorf("a file that is not there: exit code %d, want %d", r.code, exitFailed)
	}
}
