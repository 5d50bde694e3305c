package dnstest

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
)

// Server is a scripted resolver. Its methods are safe for concurrent use.
type Server struct {
	addr   netip.AddrPort
	ca     *CA
	script atomic.Pointer[Script]
	accept atomic.Int32 // a Greeting
	serial atomic.Bool

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	closing []func() // ends what blocks in the network; run in order by Stop
	stop    sync.Once

	mu        sync.Mutex // guards the following
	questions map[string]int
	conns     map[string]int
	clients   map[netip.AddrPort]int // UDP clients by number
	open      map[net.Conn]struct{}
}

// Greeting is what a server does with a new stream connection.
type Greeting int32

const (
	// Serve is the usual thing.
	Serve Greeting = iota
	// Hang accepts and then neither reads nor writes: a TLS handshake does not get anywhere.
	Hang
	// HangUp closes at once.
	HangUp
	// Break resets at once.
	Break
)

// New starts a server with UDP and TCP on one port.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	s := newServer(t, script)
	packets, listener := listenBoth(t)
	s.addr = packets.LocalAddr().(*net.UDPAddr).AddrPort()
	s.serveUDP(packets)
	s.serveStreams(listener, "tcp", nil)
	return s
}

// NewTLS starts a server with DNS over TLS. Its certificate is for the names and addresses given, or for 127.0.0.1
// when there are none.
func NewTLS(t testing.TB, script Script, names ...string) *Server {
	t.Helper()
	s := newServer(t, script)
	s.ca = NewCA(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().(*net.TCPAddr).AddrPort()
	s.serveStreams(listener, "tls", s.ca.Server(t, names...))
	return s
}

func newServer(t testing.TB, script Script) *Server {
	s := &Server{
		questions: make(map[string]int),
		conns:     make(map[string]int),
		clients:   make(map[netip.AddrPort]int),
		open:      make(map[net.Conn]struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.Use(script)
	t.Cleanup(s.Stop)
	return s
}

// listenBoth finds a port that is free for UDP and for TCP.
func listenBoth(t testing.TB) (*net.UDPConn, net.Listener) {
	t.Helper()
	var lastErr error
	for range 20 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := listener.Addr().(*net.TCPAddr)
		packets, err := net.ListenUDP("udp", &net.UDPAddr{IP: addr.IP, Port: addr.Port})
		if err == nil {
			return packets, listener
		}
		lastErr = err
		listener.Close()
	}
	t.Fatalf("no port that is free for UDP and TCP: %v", lastErr)
	return nil, nil
}

// Stop ends the server: its ports are closed, its connections too. It waits for all scripts.
func (s *Server) Stop() {
	s.stop.Do(func() {
		s.cancel()
		for _, f := range s.closing {
			f()
		}
		s.CloseConns()
		s.running.Wait()
	})
}

// Addr is where the server listens.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// Use makes script handle the questions that come from now on.
func (s *Server) Use(script Script) { s.script.Store(&script) }

// Greet makes the server treat new stream connections so.
func (s *Server) Greet(g Greeting) { s.accept.Store(int32(g)) }

// Serial makes the server answer the questions of a stream connection one after the other: the next one is read when
// the script of the last one has ended. Many servers work like that.
func (s *Server) Serial() { s.serial.Store(true) }

// Questions is how many questions came over proto, or over all of them when it is "".
func (s *Server) Questions(proto string) int { return s.count(s.questions, proto) }

// Conns is how many connections were opened over proto, or over all of them when it is "". For UDP it is the number
// of different client addresses.
func (s *Server) Conns(proto string) int { return s.count(s.conns, proto) }

func (s *Server) count(m map[string]int, proto string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if proto != "" {
		return m[proto]
	}
	sum := 0
	for _, n := range m {
		sum += n
	}
	return sum
}

// OpenConns is how many stream connections are open now.
func (s *Server) OpenConns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// CloseConns closes all stream connections that are open now, and goes on accepting new ones.
func (s *Server) CloseConns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.Close()
	}
}

// ClientTLS is a client's configuration that trusts the server's certificate, for a server of an encrypted transport.
func (s *Server) ClientTLS() *tls.Config { return s.ca.Client() }

// handle runs the script for a question, in a goroutine of its own unless the server is serial. What is no DNS message
// is ignored.
func (s *Server) handle(q *Query) {
	q.ctx = s.ctx
	q.Msg = new(dns.Msg)
	if q.Msg.Unpack(q.Wire) != nil || len(q.Msg.Question) == 0 {
		return
	}
	s.mu.Lock()
	s.questions[q.Proto]++
	q.Number = s.questions[q.Proto]
	s.mu.Unlock()
	script := *s.script.Load()
	if s.serial.Load() && q.Proto != "udp" {
		script(q)
		return
	}
	s.running.Go(func() { script(q) })
}

// connected counts a new connection over proto and returns its number.
func (s *Server) connected(proto string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[proto]++
	return s.conns[proto]
}
