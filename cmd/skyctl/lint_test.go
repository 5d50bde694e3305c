package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/lint"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// Each rule has data that it is about, and data beside it that it must keep silent about.
func TestLintFindsEachFaultAndNoMore(t *testing.T) {
	told := map[string]bool{}
	for _, tt := range []struct {
		name  string
		data  string // a key without the prefix, a space and the value, a line each
		zones []string
		want  []string // rule and key
	}{
		{"good data", `
			/org/example/www {"host":"10.0.0.1"}
			/org/example/www/x {"host":"2001:db8::1","targetstrip":1}
			/org/example/docs {"host":"www.example.org"}
			/org/example/out {"host":"pages.example.net"}
			/org/example/star/* {"host":"10.0.0.2"}
			/org/example/tostar {"host":"any.star.example.org"}
			/org/example/dns/ns/a {"host":"10.0.0.53"}
			/org/example/dns/apex/t {"text":"v=spf1"}
			/org/example/dns/stub/com/corp/10.1.0.1 {"host":"10.1.0.1"}
			/org/example/_tcp/_sip {"host":"www.example.org","port":5060}
			/arpa/in-addr/10/0/0/1 {"host":"www.example.org"}
			/config {"ttl":60}`, nil, nil},
		{"values", `
			/org/example/a {"host":
			/org/example/b {"host":"10.0.0.1","port":70000}
			/org/example/c {"priority":1}
			/org/example/d {"host":"10.0.0.1","port":"80"}
			/org/example/e/ {"host":"10.0.0.1"}
			/org/example/F {"host":"10.0.0.1"}
			/org/example/f {"host":"10.0.0.2"}
			/config [1]`, nil, []string{
			"value /org/example/a", "value /org/example/b", "empty /org/example/c", "odd /org/example/d", "case /org/example/e/",
			"case /org/example/F", "same-name /org/example/f", "config /config",
		}},
		{"aliases", `
			/org/example/a {"host":"x.example.net"}
			/org/example/a/t {"text":"beside","targetstrip":1}
			/org/example/b/1 {"host":"x.example.net","targetstrip":1}
			/org/example/b/2 {"host":"y.example.net","targetstrip":1}
			/org/example/m {"host":"docs.example.org","mail":true}
			/org/example/docs {"host":"x.example.net"}`, nil, []string{
			"alias /org/example/a", "alias /org/example/b/2", "target-alias /org/example/m",
		}},
		{"targets", `
			/org/example/a {"host":"gone.example.org"}
			/org/example/b {"type":"MX","rdata":"10 gone.example.org."}
			/org/example/c {"type":"MX","rdata":"0 ."}
			/org/other/www {"host":"10.0.0.1"}
			/org/other/x {"host":"gone.other.org"}
			/arpa/in-addr/10/0/0/1 {"host":"gone.example.org"}`, []string{"example.org."}, []string{
			"dangling /org/example/a", "dangling /org/example/b", "dangling /arpa/in-addr/10/0/0/1",
		}},
		{"circles and chains", `
			/org/example/a {"host":"b.example.org"}
			/org/example/b {"host":"A.example.org"}
			/org/example/in {"host":"a.example.org"}
			/org/example/self {"host":"self.example.org"}
			/org/example/c0 {"host":"c1.example.org"}
			/org/example/c1 {"host":"c2.example.org"}
			/org/example/c2 {"host":"c3.example.org"}
			/org/example/c3 {"host":"c4.example.org"}
			/org/example/c4 {"host":"c5.example.org"}
			/org/example/c5 {"host":"c6.example.org"}
			/org/example/c6 {"host":"c7.example.org"}
			/org/example/c7 {"host":"c8.example.org"}
			/org/example/c8 {"host":"c9.example.org"}
			/org/example/c9 {"host":"d0.example.org"}
			/org/example/d0 {"host":"d1.example.org"}
			/org/example/d1 {"host":"10.0.0.1"}`, nil, []string{
			"loop /org/example/a", "loop /org/example/b", "loop /org/example/self", "long-chain /org/example/c0",
		}},
		{"sets", `
			/org/example/a/1 {"host":"10.0.0.1","targetstrip":1}
			/org/example/a/2 {"host":"10.0.0.1","targetstrip":1}
			/org/example/b/1 {"host":"10.0.0.1","targetstrip":1,"ttl":60}
			/org/example/b/2 {"host":"10.0.0.2","targetstrip":1,"ttl":90}
			/org/example/b/3 {"host":"10.0.0.3","targetstrip":1,"ttl":100}`, nil, []string{
			"duplicate /org/example/a/2", "ttl /org/example/b/2",
		}},
		{"stub zones", `
			/org/example/www {"host":"10.0.0.1"}
			/org/example/lab/a {"host":"10.0.0.2"}
			/org/example/dns/stub/com/corp/a {"host":"ns.corp.com"}
			/org/example/dns/stub/org/example/a {"host":"10.1.0.1"}
			/org/example/dns/stub/org/example/lab/a {"host":"10.1.0.1"}
			/org/example/dns/stub/org/example/lab/b {"host":"10.1.0.2"}
			/org/example/dns/stub/org/example/empty/b {"host":"10.1.0.2"}`, nil, []string{
			"stub /org/example/dns/stub/com/corp/a", "stub /org/example/dns/stub/org/example/a", "shadow /org/example/dns/stub/org/example/lab/a",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var keys []record.Key
			for line := range strings.Lines(strings.TrimSpace(tt.data)) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				keys = append(keys, record.Read("/skydns", store.Entry{Key: "/skydns" + key, Value: value}))
			}
			slices.SortFunc(keys, func(a, b record.Key) int { return strings.Compare(a.Key, b.Key) })
			var got []string
			for _, f := range lint.Check(skydns.Prefix("/skydns"), keys, tt.zones) {
				told[f.Rule] = true
				got = append(got, f.Rule+" "+strings.TrimPrefix(f.Key, "/skydns"))
			}
			if sorted(got) != sorted(tt.want) {
				t.Errorf("found\n%s\nwant\n%s", sorted(got), sorted(tt.want))
			}
		})
	}
	for _, r := range lint.Rules {
		if !told[r[0]] {
			t.Errorf("nothing was found by the rule %s", r[0])
		}
		delete(told, r[0])
	}
	if len(told) > 0 {
		t.Errorf("rules that the help does not name: %v", told)
	}
}

func TestLintExitsByWhatItFinds(t *testing.T) {
	s := newShell(t)
	s.Put("/skydns/org/example/www", `{"host":"10.0.0.1"}`)
	s.run(t, "lint", "--strict")
	s.Put("/skydns/org/example/odd", `{"host":"10.0.0.1","port":"80"}`)
	contains(t, s.run(t, "lint"), "warning: /skydns/org/example/odd: ", "(odd)")
	if r := s.try(t, "lint", "--strict"); r.code != exitFindings {
		t.Errorf("--strict: exit code %d for a warning, want %d", r.code, exitFindings)
	}
	s.Put("/skydns/org/example/Bad", `{`)
	r := s.try(t, "lint", "-o", "json", "bad.example.org")
	if r.code != exitFindings || strings.Count(r.out, "\n") != 2 {
		t.Errorf("exit code %d, %s", r.code, r.out)
	}
	contains(t, r.out, `"level":"error","rule":"value","key":"/skydns/org/example/Bad"`)
	contains(t, r.err, "3 keys: 1 errors, 1 warnings")
}
