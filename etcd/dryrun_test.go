package etcd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coredns/caddy"

	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/trial"
)

func TestADryRunReadsTheRangesOfTheZones(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/skydns/org/example/www", `{"host":"192.0.2.1"}`)
	e.Put("/skydns/org/example/ftp", `{"host":"192.0.2.2"}`)
	e.EnableAuth()
	e.AddUser("reader", "secret", "/skydns/org/example")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	login := write("login", "reader secret\n")
	text := write("text", "no snapshot\n")
	nobody := "http://" + freeport.Addr(t)
	for _, tt := range []struct {
		zone, properties string
		want             []string // beginnings of the findings
		detail           string   // somewhere in the first
	}{
		{"example.org", "credentials reader secret", []string{"ok endpoint " + e.Endpoint() + ": answers"}, "/skydns/org/example/* 2"},
		{"example.org", "credentials_file " + login, []string{"ok endpoint"}, "* 2"},
		{"example.org sub.example.org", "credentials reader secret", []string{"ok endpoint"}, "/skydns/org/example 0"},
		{"example.org", "credentials reader wrong", []string{"problem endpoint"}, "authentication failed"},
		{"example.org", "", []string{"problem endpoint"}, "user name is empty"},
		{"example.net", "credentials reader secret", []string{"problem endpoint"}, "permission denied"},
		{"example.org", "credentials root " + etcdtest.RootPassword + "\npath /none", []string{"warning endpoint"}, "* 0"},
		{"example.org", "credentials reader secret\nsnapshot " + dir + "/snap", []string{"ok endpoint", "ok snapshot"}, ""},
		{"example.org", "credentials reader secret\nsnapshot " + dir + "/none/snap", []string{"ok endpoint", "warning snapshot"}, ""},
		{"example.org", "credentials reader secret\nsnapshot " + text, []string{"ok endpoint", "warning snapshot"}, ""},
		{"example.org", "endpoint " + e.Endpoint() + " " + nobody + "\ncredentials reader secret",
			[]string{"ok endpoint " + e.Endpoint(), "warning endpoint " + nobody}, ""},
		{"example.org", "endpoint " + nobody, []string{"problem endpoint " + nobody}, "connection refused"},
	} {
		t.Run(tt.properties, func(t *testing.T) {
			c := caddy.NewTestController("dns", fmt.Sprintf("etcd %s {\nendpoint %s\n%s\n}", tt.zone, e.Endpoint(), tt.properties))
			p := trial.Begin(c)
			if err := setup(c); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), etcdtest.Wait)
			defer cancel()
			found := p.Run(ctx, false)
			if len(found) != len(tt.want) {
				t.Fatalf("%+v\nwant %q", found, tt.want)
			}
			for i, f := range found {
				if got := fmt.Sprintf("%v %s: %s", f.Level, f.Subject, f.Detail); !strings.HasPrefix(got, tt.want[i]) {
					t.Errorf("%q, want %q", got, tt.want[i])
				}
			}
			if !strings.Contains(found[0].Detail, tt.detail) {
				t.Errorf("%q, want it to say %q", found[0].Detail, tt.detail)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 2 {
		t.Errorf("%v: a dry run wrote %q", err, left)
	}
}

// An etcd that takes connections and says nothing costs the time of one call an endpoint.
func TestADryRunOfASilentEtcdEnds(t *testing.T) {
	e := etcdtest.Start(t)
	e.Bridge().Pause()
	c := caddy.NewTestController("dns", "etcd example.org {\nendpoint "+e.Endpoint()+"\n}")
	p := trial.Begin(c)
	if err := setup(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if found := p.Run(ctx, false); len(found) != 1 || found[0].Level != trial.Problem {
		t.Errorf("%+v", found)
	}
}
