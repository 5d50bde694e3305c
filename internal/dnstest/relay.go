package dnstest

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// Relay passes TCP connections on to a server, like the network does, and can lose them, like a NAT does that drops
// its state: both ends stay open and nothing arrives any more.
type Relay struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu    sync.Mutex // guards the following
	pairs map[*relayed]struct{}
	count int
}

// relayed is one connection through a relay.
type relayed struct {
	client, server net.Conn
	lost           chan struct{} // closed when nothing is passed on any more
}

// NewRelay starts a relay to target. It ends with the test.
func NewRelay(t testing.TB, target netip.AddrPort) *Relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Relay{listener: listener, target: target.String(), pairs: make(map[*relayed]struct{})}
	r.running.Go(r.accept)
	t.Cleanup(r.stop)
	return r
}

// Addr is where the relay listens.
func (r *Relay) Addr() netip.AddrPort { return r.listener.Addr().(*net.TCPAddr).AddrPort() }

// Conns is how many connections the relay has accepted.
func (r *Relay) Conns() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// Lose makes all connections silent that exist now. New ones work.
func (r *Relay) Lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.pairs {
		select {
		case <-p.lost:
		default:
			close(p.lost)
		}
	}
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.target)
		if err != nil {
			client.Close()
			continue
		}
		p := &relayed{client: client, server: server, lost: make(chan struct{})}
		r.mu.Lock()
		r.pairs[p] = struct{}{}
		r.count++
		r.mu.Unlock()
		r.running.Go(func() { p.pass(client, server) })
		r.running.Go(func() { p.pass(server, client) })
	}
}

// pass copies until one end closes. A lost connection is still read from, so that the sender notices nothing.
func (p *relayed) pass(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-p.lost:
			if err != nil {
				return
			}
			continue
		default:
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if errors.Is(err, io.EOF) {
			to.(*net.TCPConn).CloseWrite()
			return
		}
		if err != nil {
			to.Close()
			return
		}
	}
}

func (r *Relay) stop() {
	r.listener.Close()
	r.mu.Lock()
	for p := range r.pairs {
		p.client.Close()
		p.server.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
}
