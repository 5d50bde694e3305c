package main

import (
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/freeport"
)

func TestTheShellCompletesNamesTypesAndValues(t *testing.T) {
	s := newShell(t)
	s.Put("/skydns/org/example/www", `{"host":"10.0.0.1"}`)
	s.Put("/skydns/org/example/bad", `{`)
	for _, tt := range []struct {
		args []string
		want string
		not  string
	}{
		{[]string{"get", ""}, "www.example.org.", "bad."},
		{[]string{"put", "www.example.org", ""}, "NAPTR", "www."},
		{[]string{"ls", "-o", ""}, "zone", "www."},
		{[]string{"import", "--format", ""}, "v2", "www."},
		{[]string{""}, "lint", "www."},
	} {
		out := s.run(t, append([]string{"__complete"}, tt.args...)...)
		if !strings.Contains(out, tt.want) || strings.Contains(out, tt.not) {
			t.Errorf("%q completes to %q, want %q and no %q", tt.args, out, tt.want, tt.not)
		}
	}
	contains(t, s.run(t, "completion", "bash"), "skyctl")

	away := &shell{env: map[string]string{"ETCDCTL_ENDPOINTS": freeport.Addr(t), "ETCDCTL_COMMAND_TIMEOUT": "100ms"}}
	if out := away.run(t, "__complete", "get", ""); strings.Contains(strings.ToLower(out), "error") {
		t.Errorf("an etcd that is away shows in the shell: %q", out)
	}
}
