//go:build linux

package fastudp

import (
	"context"
	"fmt"
	"io"
	stdlog "log"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/multisocket"
	_ "github.com/coredns/coredns/plugin/proxyproto"
	_ "github.com/coredns/coredns/plugin/shed"
	_ "github.com/coredns/coredns/plugin/tsig"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// echo is the plugin that answers in the tests: TXT with the name that was asked and, except below plain., the
// addresses of client and server.
type echo struct{ gate *gate }

// gate holds up the questions for names below block. until it is opened.
type gate struct {
	waiting chan struct{} // gets one for each that is held up
	open    chan struct{}
}

// gates are handed to the echo plugins of configurations to come.
var gates = &gate{}

func (e echo) Name() string { return "echo" }

func (e echo) ServeDNS(_ context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	name := r.Question[0].Name
	if dns.IsSubDomain("block.", name) {
		e.gate.waiting <- struct{}{}
		<-e.gate.open
	}
	m := new(dns.Msg)
	m.SetReply(r)
	if sig := r.IsTsig(); sig != nil && w.TsigStatus() == nil {
		m.SetTsig(sig.Hdr.Name, sig.Algorithm, 300, time.Now().Unix())
	}
	txt := []string{name, w.RemoteAddr().String(), w.LocalAddr().String()}
	if dns.IsSubDomain("plain.", name) {
		txt = txt[:1]
	}
	m.Answer = []dns.RR{&dns.TXT{
		Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET},
		Txt: txt,
	}}
	return dns.RcodeSuccess, w.WriteMsg(m)
}

func TestMain(m *testing.M) {
	stdlog.SetOutput(io.Discard) // caddy logs every reload
	plugin.Register("echo", func(c *caddy.Controller) error {
		g := gates
		dnsserver.GetConfig(c).AddPlugin(func(plugin.Handler) plugin.Handler { return echo{g} })
		return nil
	})
	plugin.Register("update", func(c *caddy.Controller) error {
		dnsserver.GetConfig(c).AllowOpcode(dns.OpcodeUpdate)
		return nil
	})
	plugin.Register("late", setupLate)
	plugin.Register("refusestart", func(c *caddy.Controller) error {
		c.OnStartup(func() error { return os.ErrInvalid })
		return nil
	})
	if err := dnsserver.SetDirectives([]string{
		"proxyproto", "multisocket", "bind", "shed", "late", "fastudp", "tsig", "update", "refusestart", "echo",
	}); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// patience bounds what a test waits for.
const patience = 10 * time.Second

// eventually polls until ok says so.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// value reads a counter or a gauge.
func value(m prometheus.Metric) float64 {
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		panic(err)
	}
	return out.GetCounter().GetValue() + out.GetGauge().GetValue()
}

// served says how many sockets serve the address.
func served(address string) int { return int(value(socketsGauge.WithLabelValues(address))) }

// start starts a server and waits until fastudp serves the address.
func start(t testing.TB, address, corefile string) *server.Server {
	t.Helper()
	s := server.Start(t, corefile)
	eventually(t, "fastudp serves "+address, func() bool { return served(address) > 0 })
	return s
}

// text is the TXT answer of echo: the name, the client's address, the server's.
func text(t testing.TB, m *dns.Msg) []string {
	t.Helper()
	if len(m.Answer) != 1 {
		t.Fatalf("want one record in the answer, got\n%v", m)
	}
	return m.Answer[0].(*dns.TXT).Txt
}

// question packs a question for TXT.
func question(t testing.TB, id uint16, name string) []byte {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(name), dns.TypeTXT)
	m.Id = id
	wire, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

func corefile(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// bound is a server block on a port of loopback, with more directives.
func bound(port, more string) string {
	return fmt.Sprintf(".:%s {\n bind 127.0.0.1\n %s\n echo\n}", port, more)
}

// up waits until CoreDNS's listeners on addr serve: one that is stopped before it has begun never ends.
func up(t testing.TB, addr string) {
	t.Helper()
	for _, network := range []string{"udp", "tcp"} {
		m := new(dns.Msg)
		m.SetQuestion("up.example.", dns.TypeTXT)
		c := &dns.Client{Net: network, Timeout: patience}
		if _, _, err := c.Exchange(m, addr); err != nil {
			t.Fatalf("asking %s over %s: %v", addr, network, err)
		}
	}
}
