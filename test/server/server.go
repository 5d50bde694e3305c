// Package server runs a real CoreDNS server from a Corefile inside a test: its own listeners on loopback, asked over
// the network like any other. The plugins that the Corefile names must be imported by the test.
//
// Leaked goroutines are looked for when the server stops, so tests that use it must not run in parallel.
package server

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

// AskTimeout bounds one question to the server under test. It is longer than any budget of the plugins, so that an
// answer that comes late is told apart from one that never comes.
const AskTimeout = 10 * time.Second

// Server is a running server. Its methods are for the test's goroutine, but for Exchange, Ask and the addresses, which
// any may call as long as nobody reloads.
type Server struct {
	inst *caddy.Instance
	addr string // where to ask; "": the first listener
}

func init() {
	caddy.Quiet = true
	dnsserver.Quiet = true
}

// Start serves the Corefile until the test ends, and fails the test when goroutines are left then. Server blocks
// listen on port 0, as in `.:0 { ... }`, which is one listener whatever their number, and get a free port.
func Start(t testing.TB, corefile string) *Server {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := goleak.Find(before); err != nil {
			t.Errorf("after the server stopped: %v", err)
		}
	})
	return StartUnchecked(t, corefile)
}

// StartUnchecked is Start without the look for goroutines, for tests that have peers in the same process whose
// goroutines come and go.
func StartUnchecked(t testing.TB, corefile string) *Server {
	t.Helper()
	inst, err := caddy.Start(input(corefile))
	if err != nil {
		t.Fatalf("starting the server: %v\n%s", err, corefile)
	}
	s := &Server{inst: inst}
	t.Cleanup(func() { s.stop(t) })
	s.serving(t)
	return s
}

// serving waits until the plain listeners answer. caddy returns before they do, and a stop that comes first leaves their
// goroutines behind. The question has an opcode that the server itself refuses, so no plugin sees it.
func (s *Server) serving(t testing.TB) {
	t.Helper()
	m := &dns.Msg{MsgHdr: dns.MsgHdr{Id: dns.Id(), Opcode: dns.OpcodeStatus}}
	m.Question = []dns.Question{{Name: ".", Qtype: dns.TypeA, Qclass: dns.ClassINET}}
	for _, l := range s.inst.Servers() {
		if l.LocalAddr() == nil || l.Addr() == nil {
			continue // not plain DNS
		}
		for network, addr := range map[string]net.Addr{"udp": l.LocalAddr(), "tcp": l.Addr()} {
			c := &dns.Client{Net: network, Timeout: 500 * time.Millisecond}
			var err error
			for end := time.Now().Add(AskTimeout); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
				if _, _, err = c.Exchange(m, loopback(addr)); err == nil {
					break
				}
			}
			if err != nil {
				t.Fatalf("the server does not answer on %s %v: %v", network, addr, err)
			}
		}
	}
}

// At returns the server as seen by asking the listener at this address, where a Corefile opens several.
func (s *Server) At(addr string) *Server { return &Server{inst: s.inst, addr: addr} }

// StartError returns the error that the Corefile is refused with. It fails the test when the server starts.
func StartError(t testing.TB, corefile string) error {
	t.Helper()
	inst, err := caddy.Start(input(corefile))
	if err == nil {
		(&Server{inst: inst}).stop(t)
		t.Fatalf("the server started, want an error\n%s", corefile)
	}
	return err
}

// Reload replaces the configuration as SIGUSR1 and the reload plugin do. On an error the old one stays in force.
func (s *Server) Reload(t testing.TB, corefile string) error {
	t.Helper()
	next, err := s.inst.Restart(input(corefile))
	if err == nil {
		s.inst = next
	}
	return err
}

// stop does what SIGTERM does, in the same order.
func (s *Server) stop(t testing.TB) {
	t.Helper()
	for _, err := range s.inst.ShutdownCallbacks() {
		t.Errorf("shutdown: %v", err)
	}
	if err := s.inst.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// Addr is the UDP address of the first listener.
func (s *Server) Addr() string { return s.Addrs("udp")[0] }

// Addrs lists the addresses of the listeners for "udp" or "tcp", in no particular order. With port 0 the two have
// different ports.
func (s *Server) Addrs(network string) []string {
	if s.addr != "" {
		return []string{s.addr}
	}
	var addrs []string
	for _, l := range s.inst.Servers() {
		switch {
		case network == "udp" && l.LocalAddr() != nil:
			addrs = append(addrs, loopback(l.LocalAddr()))
		case network == "tcp" && l.Addr() != nil:
			addrs = append(addrs, loopback(l.Addr()))
		}
	}
	return addrs
}

// loopback is where a listener can be asked: at 127.0.0.1 when it listens on all addresses.
func loopback(a net.Addr) string {
	host, port, _ := net.SplitHostPort(a.String()) // a listener's own address
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return a.String()
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// Ask asks the first listener over UDP for one name and type, with RD and without EDNS, and fails the test when no
// reply comes.
func (s *Server) Ask(t testing.TB, name string, qtype uint16) *dns.Msg {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(name), qtype)
	return s.Exchange(t, m, "udp")
}

// Exchange sends m to the first listener over "udp" or "tcp" and returns the reply. It fails the test when none comes.
func (s *Server) Exchange(t testing.TB, m *dns.Msg, network string) *dns.Msg {
	t.Helper()
	c := &dns.Client{Net: network, Timeout: AskTimeout, UDPSize: dns.MaxMsgSize}
	r, _, err := c.Exchange(m, s.Addrs(network)[0])
	if err != nil {
		t.Fatalf("asking %s over %s: %v", strings.ReplaceAll(m.Question[0].String(), "\t", " "), network, err)
	}
	return r
}

func input(corefile string) caddy.Input {
	return caddy.CaddyfileInput{Contents: []byte(corefile), Filepath: "Corefile", ServerTypeName: "dns"}
}
