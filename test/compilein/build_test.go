//go:build compilein

package compilein

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"

	"github.com/miekg/dns"
)

const module = "github.com/trident-dns/trident"

// TestPluginsCompiledIntoCoreDNS does what README.md says under plugin.cfg, with this checkout in the place of a release.
func TestPluginsCompiledIntoCoreDNS(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := unpack(t)
	example := read(t, filepath.Join(root, "plugin.cfg.example"))
	cfg, err := replace(read(t, filepath.Join(dir, "plugin.cfg")), example)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "plugin.cfg"), cfg)
	main := filepath.Join(dir, "coredns.go")
	write(t, main, strings.Replace(read(t, main), "import (", "import (\n\t_ \""+module+"/etcd/embedded\"", 1))

	// In the place of go get, which asks the proxy also for what is replaced.
	run(t, dir, "go", "mod", "edit", "-require="+module+"@v0.0.0", "-replace="+module+"="+root)
	// What the go.sum of a release would bring in by way of the proxy.
	sums := filepath.Join(dir, "go.sum")
	write(t, sums, read(t, sums)+read(t, filepath.Join(root, "go.sum")))
	run(t, dir, "go", "generate")
	run(t, dir, "go", "build", "-o", "coredns")

	bin := filepath.Join(dir, "coredns")
	listed, code := proctest.Run(t, dir, bin, "-plugins")
	for _, entry := range entries(cfg) {
		name, _, _ := strings.Cut(entry, ":")
		if !slices.Contains(strings.Fields(listed), "dns."+name) && !slices.Contains(strings.Fields(listed), name) {
			t.Errorf("exit %d, -plugins lacks %s", code, name)
		}
	}
	answers(t, bin)
}

// unpack copies CoreDNS as go.mod pins it out of the module cache, to where the last copy was: the build cache tells
// packages apart by their directory.
func unpack(t *testing.T) string {
	t.Helper()
	source := strings.TrimSpace(run(t, "", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/coredns/coredns"))
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "trident-compile-in")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// answers serves with all four plugins and asks for a name of each that has some.
func answers(t *testing.T, bin string) {
	t.Helper()
	dir := t.TempDir()
	proctest.WriteFile(t, dir, "records", `/skydns/test/trident/www {"host":"10.0.0.2"}`+"\n")
	front, back := freeport.Addr(t), freeport.Addr(t)
	port := func(addr string) string { return addr[strings.LastIndex(addr, ":")+1:] }
	corefile := proctest.WriteFile(t, dir, "Corefile", `.:%s {
    bind 127.0.0.1
    fastudp
    hosts {
        10.0.0.1 router.home.arpa
        fallthrough
    }
    etcd trident.test {
        endpoint http://%s
        embed data records
    }
    forward . %s
}
.:%s {
    bind 127.0.0.1
    hosts {
        10.0.0.3 www.upstream.test
    }
}
`, port(front), freeport.Addr(t), back, port(back))
	proctest.Start(t, dir, bin, "-conf", corefile)
	for name, want := range map[string]string{
		"router.home.arpa.": "10.0.0.1", "www.trident.test.": "10.0.0.2", "www.upstream.test.": "10.0.0.3",
	} {
		m := new(dns.Msg)
		m.SetQuestion(name, dns.TypeA)
		got := "no answer"
		for end := time.Now().Add(proctest.Wait); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
			if r, err := dns.Exchange(m, front); err == nil && len(r.Answer) == 1 {
				got = r.Answer[0].(*dns.A).A.String()
				break
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// run runs a command in dir and returns what it printed on standard output.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	start := time.Now()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	// The flags of whoever runs the test are for our module.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, errs.String())
	}
	t.Logf("%s %s: %v\n%s", name, strings.Join(args, " "), time.Since(start).Round(time.Millisecond), errs.String())
	return string(out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(fmt.Errorf("writing for the build: %w", err))
	}
}
