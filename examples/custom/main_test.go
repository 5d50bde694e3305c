package main

import (
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"

	"github.com/miekg/dns"
)

func TestTheExampleServesWhatItNamesAndNothingElse(t *testing.T) {
	bin := proctest.Build(t, ".")
	dir := t.TempDir()
	listed, code := proctest.Run(t, dir, bin, "-plugins")
	for _, d := range directives {
		if code != 0 || !strings.Contains(listed, d+"\n") {
			t.Errorf("exit %d, -plugins lacks %s: %q", code, d, listed)
		}
	}
	addr := freeport.Addr(t)
	_, port, _ := strings.Cut(addr, ":")
	proctest.Start(t, dir, bin, "-conf", proctest.WriteFile(t, dir, "Corefile", `.:%s {
    bind 127.0.0.1
    errors
    fastudp
    cache
    hosts {
        10.0.0.1 router.home.arpa
        fallthrough
    }
    etcd services.home.arpa {
        endpoint http://%s
    }
    forward . /etc/resolv.conf
}
`, port, freeport.Addr(t)))
	m := new(dns.Msg)
	m.SetQuestion("router.home.arpa.", dns.TypeA)
	for end := time.Now().Add(proctest.Wait); ; <-time.After(20 * time.Millisecond) {
		r, err := dns.Exchange(m, addr)
		if err == nil && len(r.Answer) == 1 && r.Answer[0].(*dns.A).A.String() == "10.0.0.1" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%v, %v", r, err)
		}
	}
	out, code := proctest.Run(t, dir, bin, "-conf",
		proctest.WriteFile(t, dir, "Corefile.other", ".:%s {\n    whoami\n}\n", freeport.Port(t)))
	if code == 0 || !strings.Contains(out, "Unknown directive 'whoami'") {
		t.Errorf("exit %d, printed %q", code, out)
	}
}
