package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/freeport"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestCredentialsAndAddressAreTakenAsEtcdctlTakesThem(t *testing.T) {
	s := newShell(t)
	s.Put("/skydns/org/example/www", `{"host":"10.0.0.1"}`)
	s.EnableAuth()
	s.AddUser("reader", "secret", "/skydns/")
	if r := s.try(t, "ls"); r.code != exitFailed || !strings.Contains(r.err, "etcd wants a login") {
		t.Errorf("without a login: exit code %d, %q", r.code, r.err)
	}
	contains(t, s.run(t, "ls", "--user", "reader:secret"), "10.0.0.1")
	contains(t, s.run(t, "ls", "--user", "reader", "--password", "secret"), "10.0.0.1")
	s.env["ETCDCTL_USER"], s.env["ETCDCTL_PASSWORD"] = "reader", "secret"
	contains(t, s.run(t, "ls"), "10.0.0.1")
	if r := s.try(t, "put", "www.example.org", "A", "10.0.0.2"); r.code != exitFailed || !strings.Contains(r.err, "role of user") {
		t.Errorf("writing as a reader: exit code %d, %q", r.code, r.err)
	}
	s.env["ETCDCTL_PASSWORD"] = "wrong"
	if r := s.try(t, "ls"); r.code != exitFailed || !strings.Contains(r.err, "invalid user ID or password") {
		t.Errorf("with a wrong password: exit code %d, %q", r.code, r.err)
	}
	delete(s.env, "ETCDCTL_PASSWORD")
	if r := s.try(t, "ls"); r.code != exitUsage || !strings.Contains(r.err, "ETCDCTL_PASSWORD") {
		t.Errorf("without a password: exit code %d, %q", r.code, r.err)
	}
}

func TestFlagsWinOverTheEnvironment(t *testing.T) {
	s := newShell(t)
	s.Put("/other/org/example/www", `{"host":"10.0.0.1"}`)
	s.env["SKYCTL_PREFIX"] = "other"
	contains(t, s.run(t, "ls"), "10.0.0.1")
	s.env["SKYCTL_PREFIX"] = "nosuch"
	contains(t, s.run(t, "ls", "--prefix", "/other/"), "10.0.0.1")
	contains(t, s.run(t, "ls", "--path", "/other"), "10.0.0.1")
	s.env["ETCDCTL_ENDPOINTS"] = freeport.Addr(t)
	contains(t, s.run(t, "ls", "--path", "/other", "--endpoints", s.Direct()), "10.0.0.1")
	s.env["ETCDCTL_COMMAND_TIMEOUT"] = "soon"
	if r := s.try(t, "ls"); r.code != exitUsage || !strings.Contains(r.err, "ETCDCTL_COMMAND_TIMEOUT=soon") {
		t.Errorf("with a bad variable: exit code %d, %q", r.code, r.err)
	}
}

func TestAnEtcdThatIsAwayIsNamedWithTheReason(t *testing.T) {
	addr := freeport.Addr(t)
	s := &shell{env: map[string]string{"ETCDCTL_ENDPOINTS": addr, "ETCDCTL_COMMAND_TIMEOUT": "300ms"}}
	r := s.try(t, "ls")
	if r.code != exitFailed {
		t.Errorf("exit code %d, want %d", r.code, exitFailed)
	}
	contains(t, r.err, "etcd at "+addr+" did not answer within 300ms", "connection refused")
}

func TestBadCertificatesAreNamed(t *testing.T) {
	s := &shell{env: map[string]string{}}
	for _, tt := range []struct {
		want string
		args []string
	}{
		{"--cacert: open /nosuch", []string{"--cacert", "/nosuch"}},
		{"no certificate in PEM form", []string{"--cacert", "flags_test.go"}},
		{"--cert and --key go together", []string{"--cert", "x"}},
		{"--cert and --key: open /nosuch", []string{"--cert", "/nosuch", "--key", "/nosuch"}},
		{"--password without --user", []string{"--password", "x"}},
	} {
		if r := s.try(t, append(tt.args, "ls")...); r.code == exitOK || !strings.Contains(r.err, tt.want) {
			t.Errorf("%q: exit code %d, %q; want %q", tt.args, r.code, r.err, tt.want)
		}
	}
}
