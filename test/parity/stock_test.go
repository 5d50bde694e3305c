package parity

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"

	"github.com/miekg/dns"
)

// startStock serves the Corefile, in which PORT stands for the port, with the binary bin until the test ends. It
// returns the address.
func startStock(t *testing.T, bin, corefile string) string {
	t.Helper()
	addr := freeport.Addr(t)
	_, port, _ := net.SplitHostPort(addr)
	file := proctest.WriteFile(t, t.TempDir(), "Corefile", "%s", strings.ReplaceAll(corefile, "PORT", port))
	proctest.Start(t, "", bin, "-conf", file)
	probe := new(dns.Msg)
	probe.SetQuestion("parity.invalid.", dns.TypeA)
	c := &dns.Client{Timeout: time.Second}
	for deadline := time.Now().Add(proctest.Wait); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		if _, _, err := c.Exchange(probe, addr); err == nil {
			return addr
		}
	}
	t.Fatalf("the stock server does not answer on %s", addr)
	return ""
}
