//go:build linux

package deploytest

import (
	"crypto/x509"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func itoa(n int) string { return strconv.Itoa(n) }

// jailCorefile writes to a volume (the etcd inside the process) and to no other place, and listens where only a
// capability lets it.
const jailCorefile = `.:53 {
    errors
    health
    ready
    etcd etcd.test {
        endpoint http://127.0.0.1:2379
        embed /var/lib/trident/etcd /etc/coredns/records
        snapshot /var/lib/trident/etcd.test.snapshot
    }
    hosts {
        192.0.2.1 www.example.org
        fallthrough
    }
}
`

// The image's root file system, run as Kubernetes runs it: its user, its one capability, nothing to write to but the
// volumes; and the question comes in at port 53.
func TestTheRootFileSystemServes(t *testing.T) {
	root := filepath.Join(t.TempDir(), "rootfs")
	if out, err := exec.Command("../rootfs.sh", root).CombinedOutput(); err != nil {
		t.Fatalf("rootfs.sh: %v\n%s", err, out)
	}
	t.Run("contents", func(t *testing.T) { contents(t, root) })
	if _, err := exec.LookPath("setcap"); err != nil || os.Getuid() != 0 {
		t.Skip("built but not run: it needs root and setcap (libcap2-bin)")
	}
	etc := t.TempDir()
	for name, text := range map[string]string{"Corefile": jailCorefile, "records": "/skydns/test/etcd/www {\"host\":\"192.0.2.2\"}\n"} {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inJail(t, root, etc, func(j jail) {
		cmd, out := j.start(t, "/coredns", "-conf", "/etc/coredns/Corefile")
		if cmd == nil {
			return
		}
		wantAddress(t, "www.example.org.", "192.0.2.1")
		wantAddress(t, "www.etcd.test.", "192.0.2.2")
		for field, want := range map[string]string{
			"Uid": "65532 65532 65532 65532", "Gid": "65532 65532 65532 65532", "Groups": "", "NoNewPrivs": "1",
			"CapEff": "0000000000000400", "CapPrm": "0000000000000400", "CapBnd": "0000000000000400",
		} {
			if got := status(t, cmd.Process.Pid, field); got != want {
				t.Errorf("%s is %q, want %q", field, got, want)
			}
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		// Killed if it does not end by itself.
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the end: %v", err)
		}
		// Of the thread's mount namespace, so read here.
		if _, err := os.Stat(root + "/var/lib/trident/etcd.test.snapshot"); err != nil {
			t.Errorf("the snapshot: %v", err)
		}
		if err := os.WriteFile(root+"/etc/new", nil, 0o600); err == nil {
			t.Error("the root file system could be written to")
		}
		if t.Failed() {
			t.Logf("it printed:\n%s", out)
		}
	})
}

// wantAddress asks at port 53 of this thread's loopback until the answer is the address.
func wantAddress(t *testing.T, name, want string) {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, dns.TypeA)
	c := &dns.Client{Timeout: time.Second}
	var last string
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		r, _, err := c.Exchange(m, "127.0.0.1:53")
		if err != nil {
			last = err.Error()
			continue
		}
		last = dns.RcodeToString[r.Rcode]
		if len(r.Answer) == 1 {
			if a, ok := r.Answer[0].(*dns.A); ok {
				last = a.A.String()
			}
		}
		if last == want {
			return
		}
	}
	t.Errorf("%s: %s, want %s", name, last, want)
}

// contents checks what the root file system is made of: programs that need nothing else, and certificates.
func contents(t *testing.T, root string) {
	for _, program := range []string{"coredns", "dummyif", "skyctl"} {
		f, err := elf.Open(filepath.Join(root, program))
		if err != nil {
			t.Error(err)
			continue
		}
		if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
			t.Errorf("%s needs %q (%v)", program, libs, err)
		}
		_ = f.Close() // only read
	}
	pem, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(pem) {
		t.Errorf("no CA certificates (%v)", err)
	}
	for _, dir := range []string{"var/lib/trident", "var/cache/trident"} {
		i, err := os.Stat(filepath.Join(root, dir))
		if err != nil {
			t.Error(err)
		} else if s := i.Sys().(*syscall.Stat_t); os.Getuid() == 0 && s.Uid != 65532 {
			t.Errorf("%s belongs to user %d", dir, s.Uid)
		}
	}
}
