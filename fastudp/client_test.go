//go:build linux

package fastudp

import (
	"net"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/shared"

	"github.com/miekg/dns"
)

// frontOf returns the front of an address (host and port) once its lanes are open.
func frontOf(t testing.TB, bind string) *front {
	t.Helper()
	o := shared.New()
	t.Cleanup(o.Release)
	var f *front
	eventually(t, bind+" is served", func() bool {
		var err error
		f, err = fronts.Acquire(o, bind, func() (*front, error) { return nil, net.ErrClosed })
		if err != nil {
			return false
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.lanes) > 0
	})
	return f
}

func steered(f *front) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.steered
}

// newGate makes the gate of the servers that are started from now on.
func newGate(t testing.TB) *gate {
	old := gates
	gates = &gate{waiting: make(chan struct{}, 1<<16), open: make(chan struct{})}
	t.Cleanup(func() { gates = old })
	return gates
}

// exchange sends wire and reads one reply.
func exchange(c net.Conn, wire []byte) (*dns.Msg, error) {
	if _, err := c.Write(wire); err != nil {
		return nil, err
	}
	return readReply(c)
}

func readReply(c net.Conn) (*dns.Msg, error) {
	buf := make([]byte, dns.MaxMsgSize)
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	n, err := c.Read(buf)
	if err != nil {
		return nil, err
	}
	m := new(dns.Msg)
	return m, m.Unpack(buf[:n])
}

func ask(t testing.TB, c net.Conn, wire []byte) *dns.Msg {
	t.Helper()
	m, err := exchange(c, wire)
	if err != nil {
		t.Fatalf("asking %s: %v", c.RemoteAddr(), err)
	}
	return m
}

func read(t testing.TB, c net.Conn) *dns.Msg {
	t.Helper()
	m, err := readReply(c)
	if err != nil {
		t.Fatalf("reading a reply of %s: %v", c.RemoteAddr(), err)
	}
	return m
}
