package main

import (
	"slices"
	"strings"
	"testing"
)

func sorted(lines []string) string {
	lines = slices.Clone(lines)
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestGetShowsTheNameAndLsWhatIsBelow(t *testing.T) {
	s := newShell(t)
	s.Put("/skydns/org/example/db/a", `{"host":"10.0.0.1","port":5432}`)
	s.Put("/skydns/org/example/db", `{"text":"databases"}`)
	s.Put("/skydns/org/example/db2", `{"host":"10.0.0.2"}`)
	s.Put("/skydns/org/example/bad", `{"host":`)
	if got := fields(s.run(t, "get", "db.example.org", "-o", "zone")); len(got) != 1 {
		t.Errorf("get: %q, want one line", got)
	}
	got := fields(s.run(t, "ls", "DB.example.org", "-o", "zone"))
	want := []string{
		"a.db.example.org. 300 IN A 10.0.0.1", "a.db.example.org. 300 IN SRV 10 100 5432 a.db.example.org.",
		`db.example.org. 300 IN TXT "databases"`,
	}
	if sorted(got) != sorted(want) {
		t.Errorf("ls: %q, want %q", got, want)
	}
	contains(t, s.run(t, "ls"), "bad json", "/skydns/org/example/bad")
	if r := s.try(t, "get", "nosuch.example.org"); r.code != exitNotFound {
		t.Errorf("exit code %d for a name without records, want %d", r.code, exitNotFound)
	}
	if r := s.try(t, "get", "db.example.org", "A"); r.code != exitNotFound {
		t.Errorf("exit code %d for a type without records, want %d", r.code, exitNotFound)
	}
}

func TestRmDeletesNoMoreThanItSays(t *testing.T) {
	s := newShell(t)
	s.Put("/skydns/org/example/www", `{"host":"10.0.0.1"}`)
	s.Put("/skydns/org/example/www/x", `{"host":"10.0.0.2","targetstrip":1}`)
	s.Put("/skydns/org/example/www/below", `{"host":"10.0.0.3"}`)
	s.Put("/skydns/org/example/www2", `{"host":"10.0.0.4"}`)
	s.Put("/skydns/org/example/Bad", `{`)
	s.run(t, "rm", "www.example.org", "A", "10.0.0.2")
	s.run(t, "rm", "www.example.org")
	s.want(t, `/skydns/org/example/www/below {"host":"10.0.0.3"}`, `/skydns/org/example/www2 {"host":"10.0.0.4"}`, `/skydns/org/example/Bad {`)
	s.run(t, "rm", "-r", "www.example.org")
	s.run(t, "rm", "--key", "/skydns/org/example/Bad")
	s.want(t, `/skydns/org/example/www2 {"host":"10.0.0.4"}`)
	if r := s.try(t, "rm", "www.example.org"); r.code != exitNotFound {
		t.Errorf("exit code %d for nothing to delete, want %d", r.code, exitNotFound)
	}
}

func TestWatchShowsChangesAsTheyHappen(t *testing.T) {
	s := newShell(t)
	first := s.Put("/skydns/org/example/www", `{"host":"10.0.0.1"}`)
	s.Put("/skydns/org/example/www", `{"host":"10.0.0.2"}`)
	s.Put("/skydns/org/example/www2", `{"host":"10.0.0.9"}`)
	s.Delete("/skydns/org/example/www")
	rev := []string{"watch", "www.example.org", "-n", "3", "--rev", itoa(first)}
	got := s.run(t, rev...)
	want := `+ www.example.org. - A 10.0.0.1
- www.example.org. - A 10.0.0.1
+ www.example.org. - A 10.0.0.2
- www.example.org. - A 10.0.0.2
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	contains(t, s.run(t, append(rev, "-o", "json")...), `"op":"put"`, `"op":"delete"`, `"old":"{\"host\":\"10.0.0.2\"}"`)
	s.Compact(first + 2)
	if r := s.try(t, rev...); r.code != exitFailed || !strings.Contains(r.err, "discarded") {
		t.Errorf("watching what is compacted: exit code %d, %q", r.code, r.err)
	}
}
