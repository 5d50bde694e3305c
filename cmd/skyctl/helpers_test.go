package main

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/etcdtest"
)

// shell runs commands against an etcd of its own.
type shell struct {
	*etcdtest.Etcd
	env map[string]string
	in  string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	e := etcdtest.Start(t)
	return &shell{Etcd: e, env: map[string]string{"ETCDCTL_ENDPOINTS": e.Direct()}}
}

// result is what a command did.
type result struct {
	out, err string
	code     int
}

// try runs a command.
func (s *shell) try(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), etcdtest.Wait)
	defer cancel()
	var out, errs bytes.Buffer
	code := run(ctx, args, streams{
		in: strings.NewReader(s.in), out: &out, err: &errs,
		env: func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
	})
	return result{out.String(), errs.String(), code}
}

// run runs a command that must succeed, and returns its output.
func (s *shell) run(t *testing.T, args ...string) string {
	t.Helper()
	r := s.try(t, args...)
	if r.code != exitOK {
		t.Fatalf("skyctl %q: exit code %d: %s", args, r.code, r.err)
	}
	return r.out
}

// want fails the test unless etcd holds just these keys, each a key, a space and the value.
func (s *shell) want(t *testing.T, lines ...string) {
	t.Helper()
	all, _ := s.Dump("/skydns")
	var got []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		got = append(got, key+" "+all[key])
	}
	slices.Sort(lines)
	if !slices.Equal(got, lines) {
		t.Errorf("etcd holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// contains fails the test unless text has all the parts.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

// fields are the words of each line, one space between them.
func fields(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}
