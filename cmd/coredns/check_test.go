package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"
)

// A Corefile of every kind of thing that is checked, all of it good. Its listener's port is taken, as are those of health
// and prometheus, so that a check that listened would fail.
const goodCorefile = `(common) {
    errors
}
.:%[1]s {
    bind 127.0.0.1
    import common
    health 127.0.0.1:%[1]s
    prometheus 127.0.0.1:%[1]s
    root %[2]s
    kubernetes cluster.local
    hosts list {
        10.0.0.1 router.home.arpa
        cache_dir cache
        fallthrough
    }
    etcd example.org {
        endpoint %[3]s
        snapshot snapshot
    }
    etcd example.net {
        endpoint http://127.0.0.1:%[1]s
        embed data list
    }
    forward . tls://dns.example {
        tls ca.pem
        resolver %[4]s
    }
    fastudp
}
`

func TestCheck(t *testing.T) {
	bin := proctest.Build(t, ".")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	e := etcdtest.Start(t)
	e.Put("/skydns/org/example/www", `{"host":"192.0.2.1"}`)
	names := dnstest.New(t, dnstest.Named(map[string]dnstest.Script{"dns.example.": dnstest.A("192.0.2.53")}))
	dir := t.TempDir()
	proctest.WriteFile(t, dir, "list", "10.0.0.2 two.example\n")
	proctest.WriteFile(t, dir, "ca.pem", "%s", dnstest.NewCA(t).PEM())
	good := fmt.Sprintf(goodCorefile, port, dir, e.Endpoint(), names.Addr())
	file := proctest.WriteFile(t, dir, "Corefile", "%s", good)

	t.Run("a good Corefile", func(t *testing.T) {
		before := tree(t, dir)
		out, code := proctest.Run(t, dir, bin, "-check", "-conf", file)
		if code != exitFine || !strings.Contains(out, file+" is fine; problems: 0") {
			t.Errorf("exit %d, printed\n%s", code, out)
		}
		for _, want := range []string{
			"ok       " + file + ":10  kubernetes  syntax: known, and its block is well formed",
			"file " + dir + "/list: 1 entries",
			"endpoint " + e.Endpoint() + ": answers, keys: /skydns/org/example/* 1",
			"name dns.example: 192.0.2.53",
			"authority " + dir + "/ca.pem: 1 certificates",
			"embed " + dir + "/data: will be made; etcd is not started by a check",
			"fastudp     set-up: accepted",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is missing in\n%s", want, out)
			}
		}
		if after := tree(t, dir); !slices.Equal(before, after) {
			t.Errorf("a check changed files from %q to %q", before, after)
		}
	})

	t.Run("from standard input, for programs", func(t *testing.T) {
		cmd := exec.Command(bin, "-check", "-check-output", "json", "-conf", "stdin")
		cmd.Stdin = strings.NewReader(good)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		r := report(t, string(out))
		if !r.OK || r.Corefile != "/dev/stdin" || len(r.Findings) < 10 {
			t.Errorf("%+v", r)
		}
	})

	for _, tt := range []struct {
		name     string
		old, new string // replaced in the good Corefile
		plugin   string
		problem  string // in the detail
	}{
		{"a missing file", "hosts list", "hosts nowhere", "hosts", "no such file"},
		{"a list whose server is away", "cache_dir cache", "url http://" + taken.Addr().String() + "0/x", "hosts", "invalid port"},
		{"a bad property of ours", "cache_dir cache", "ttl many", "hosts", `ttl "many": want`},
		{"a name that does not resolve", "dns.example", "gone.example", "forward", "does not resolve"},
		{"a certificate that is none", "tls ca.pem", "tls list", "forward", "tls:"},
		{"a key that is missing", "tls ca.pem", "tls ca.pem nokey", "forward", "no such file"},
		{"a certificate of a listener", "fastudp", "tls ca.pem nokey", "tls", "no such file"},
		{"an etcd that does not answer", "endpoint " + e.Endpoint(), "endpoint http://" + freeport.Addr(t), "etcd", "connection refused"},
		{"a fault of fastudp", "fastudp", "fastudp yes", "fastudp", "takes no arguments"},
		{"an unknown directive", "fastudp", "fastupd", "corefile", "Unknown directive 'fastupd'"},
		{"a directive that was left out", "fastudp", "route53", "route53", "-tags cloud"},
		{"a brace that is missing", "fastudp\n}", "fastudp", "corefile", "expecting '}'"},
		{"an import of nothing", "import common", "import nothing", "corefile", "File to import not found"},
		{"a fault in a snippet", "    errors\n", "    errors\n    hosts {\n        ttl 0\n    }\n", "hosts", "ttl"},
		{"a zone that is served twice", "(common)", "example.com:53 {\n log\n}\nexample.com:53 {\n log\n}\n(common)", "corefile", "served twice"},
		{"a zone that is none", ".:" + port, "a..b:53", "corefile", "a..b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if leftOut == nil && tt.plugin == "route53" {
				t.Skip("built with -tags cloud: nothing is left out")
			}
			bad := strings.Replace(good, tt.old, tt.new, 1)
			file := proctest.WriteFile(t, dir, "Corefile.bad", "%s", bad)
			out, code := proctest.Run(t, dir, bin, "-check", "-check-output=json", "-conf", file)
			if code != exitProblems {
				t.Errorf("exit %d, want %d", code, exitProblems)
			}
			r := report(t, out)
			found := slices.IndexFunc(r.Findings, func(f finding) bool {
				return f.Level == "problem" && f.Plugin == tt.plugin && strings.Contains(f.Detail, tt.problem)
			})
			if r.OK || r.Problems == 0 || found < 0 {
				t.Fatalf("want a problem of %s that says %q, printed\n%s", tt.plugin, tt.problem, out)
			}
			if f := r.Findings[found]; f.File != file || f.Line == 0 && f.Plugin != "corefile" {
				t.Errorf("%+v does not say where", f)
			}
		})
	}

	t.Run("without network", func(t *testing.T) {
		bad := strings.NewReplacer("dns.example", "gone.example", "endpoint "+e.Endpoint(), "endpoint http://"+freeport.Addr(t)).Replace(good)
		file := proctest.WriteFile(t, dir, "Corefile.far", "%s", bad)
		out, code := proctest.Run(t, dir, bin, "-check", "-check-offline", "-conf", file)
		if code != exitFine || strings.Count(out, "needs the network") != 2 {
			t.Errorf("exit %d, printed\n%s", code, out)
		}
	})

	t.Run("the time is bounded", func(t *testing.T) {
		e.Bridge().Pause()
		defer e.Bridge().Heal()
		start := time.Now()
		out, code := proctest.Run(t, dir, bin, "-check", "-check-timeout", "100ms", "-conf", file)
		if code != exitProblems || !strings.Contains(out, "endpoint "+e.Endpoint()) {
			t.Errorf("exit %d after %v, printed\n%s", code, time.Since(start), out)
		}
	})

	t.Run("a Corefile that cannot be read", func(t *testing.T) {
		out, code := proctest.Run(t, dir, bin, "-check", "-conf", "nowhere")
		if code != exitProblems || !strings.Contains(out, "no such file") {
			t.Errorf("exit %d, printed %q", code, out)
		}
	})

	t.Run("no Corefile", func(t *testing.T) {
		out, code := proctest.Run(t, t.TempDir(), bin, "-check")
		if code != exitFine || !strings.Contains(out, "no Corefile was given or found") {
			t.Errorf("exit %d, printed %q", code, out)
		}
	})

	for _, args := range [][]string{{"extra"}, {"-check-output", "xml"}, {"-check-timeout", "0s"}, {"-check-timeout", "x"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			out, code := proctest.Run(t, dir, bin, append([]string{"-check", "-conf", file}, args...)...)
			if code != exitUsage || out == "" {
				t.Errorf("exit %d, printed %q", code, out)
			}
		})
	}
}

type finding struct {
	Level, File, Plugin, Subject, Detail string
	Line                                 int
}

type reported struct {
	OK       bool
	Corefile string
	Problems int
	Findings []finding
}

func report(t *testing.T, text string) (r reported) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return r
}

// tree lists what is below dir, with sizes and times.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		all = append(all, fmt.Sprintf("%s %d %v", path, info.Size(), info.ModTime()))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
