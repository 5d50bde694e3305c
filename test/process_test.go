package test

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"

	"github.com/miekg/dns"
)

// processCorefile uses all three plugins; ADDRESS is what the hosts block answers.
const processCorefile = `.:PORT {
    bind 127.0.0.1
    errors
    RELOAD
    hosts {
        ADDRESS www.hosts.test
        fallthrough
    }
    etcd etcd.test {
        endpoint http://127.0.0.1:ETCD
        embed etcd-data records
    }
    forward . 127.0.0.1:UPSTREAM
}
.:UPSTREAM {
    bind 127.0.0.1
    hosts {
        192.0.2.80 www.upstream.test
    }
}
`

// process is the built binary serving processCorefile in a directory of its own.
type process struct {
	*proctest.Process
	dir, addr, corefile string
}

func startProcess(t *testing.T, reload string) *process {
	t.Helper()
	p := &process{dir: t.TempDir()}
	port := freeport.Port(t)
	p.addr = "127.0.0.1:" + port
	p.corefile = strings.NewReplacer("PORT", port, "ETCD", freeport.Port(t), "UPSTREAM", freeport.Port(t), "RELOAD", reload).
		Replace(processCorefile)
	proctest.WriteFile(t, p.dir, "records", "/skydns/test/etcd/www {\"host\":\"10.9.9.9\"}\n")
	p.configure(t, "10.0.0.1")
	p.Process = proctest.Start(t, p.dir, proctest.Build(t, "../cmd/coredns"), "-conf", "Corefile")
	p.want(t, "www.hosts.test.", "10.0.0.1")
	p.want(t, "www.etcd.test.", "10.9.9.9")
	p.want(t, "www.upstream.test.", "192.0.2.80")
	return p
}

// configure writes the Corefile with the address that the hosts block answers.
func (p *process) configure(t *testing.T, address string) {
	t.Helper()
	proctest.WriteFile(t, p.dir, "Corefile", "%s", strings.Replace(p.corefile, "ADDRESS", address, 1))
}

// want asks until the answer is the address.
func (p *process) want(t *testing.T, name, address string) {
	t.Helper()
	var last string
	for deadline := time.Now().Add(proctest.Wait); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		if last = p.ask(name, time.Second); last == address {
			return
		}
	}
	t.Fatalf("%s: %s, want %s", name, last, address)
}

// ask returns the address of the answer, or else what came instead of one.
func (p *process) ask(name string, timeout time.Duration) string {
	m := new(dns.Msg)
	m.SetQuestion(name, dns.TypeA)
	r, _, err := (&dns.Client{Timeout: timeout}).Exchange(m, p.addr)
	switch {
	case err != nil:
		return err.Error()
	case len(r.Answer) == 1:
		return r.Answer[0].(*dns.A).A.String()
	default:
		return dns.RcodeToString[r.Rcode]
	}
}

// askThroughout asks for the names of all plugins until the returned function is called, which reports the questions
// that were not answered right.
func (p *process) askThroughout() (stop func() (asked int64, wrong []string)) {
	var end atomic.Bool
	var asked atomic.Int64
	done := make(chan []string)
	go func() {
		var wrong []string
		for !end.Load() {
			for name, want := range map[string]string{"www.etcd.test.": "10.9.9.9", "www.upstream.test.": "192.0.2.80"} {
				asked.Add(1)
				if got := p.ask(name, 5*time.Second); got != want {
					wrong = append(wrong, name+": "+got)
				}
			}
		}
		done <- wrong
	}()
	return func() (int64, []string) {
		end.Store(true)
		return asked.Load(), <-done
	}
}

func TestSIGUSR1ReloadsWithoutLosingQuestionsAndSIGTERMEndsTheProcess(t *testing.T) {
	p := startProcess(t, "")
	stop := p.askThroughout()

	for i, address := range []string{"10.0.0.2", "10.0.0.3"} {
		p.configure(t, address)
		p.Signal(t, syscall.SIGUSR1)
		p.WaitFor(t, "Reloading complete", i+1)
		p.want(t, "www.hosts.test.", address)
	}

	p.corefile = strings.Replace(p.corefile, "embed etcd-data", "nosuch property", 1)
	p.configure(t, "10.0.0.4")
	p.Signal(t, syscall.SIGUSR1)
	p.WaitFor(t, "nosuch", 1)
	p.want(t, "www.hosts.test.", "10.0.0.3")

	if asked, wrong := stop(); len(wrong) > 0 {
		t.Errorf("%d of %d questions went wrong during reloads: %q", len(wrong), asked, wrong)
	}
	p.Signal(t, syscall.SIGTERM)
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
}

func TestTheReloadPluginReloadsWithoutLosingQuestions(t *testing.T) {
	p := startProcess(t, "reload 2s 1s")
	stop := p.askThroughout()
	for _, address := range []string{"10.0.0.2", "10.0.0.3"} {
		p.configure(t, address)
		p.want(t, "www.hosts.test.", address)
	}
	if asked, wrong := stop(); len(wrong) > 0 {
		t.Errorf("%d of %d questions went wrong during reloads: %q", len(wrong), asked, wrong)
	}
}
