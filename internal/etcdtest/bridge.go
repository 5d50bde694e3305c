package etcdtest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Bridge is a TCP proxy on loopback in front of a server, through which a test can make the network fail.
type Bridge struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup
	dialed   atomic.Int64

	mu     sync.Mutex // guards the following
	cond   *sync.Cond // for each change of paused and closed
	paused bool
	cut    bool
	closed bool
	conns  map[net.Conn]struct{}
}

// NewBridge starts a bridge to the address target, which need not listen yet. It ends with the test.
func NewBridge(t testing.TB, target string) *Bridge {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &Bridge{listener: l, target: target, conns: map[net.Conn]struct{}{}}
	b.cond = sync.NewCond(&b.mu)
	b.wg.Go(b.accept)
	t.Cleanup(b.close)
	return b
}

// Addr is where the bridge listens.
func (b *Bridge) Addr() string { return b.listener.Addr().String() }

// Pause keeps every connection open, also new ones, and lets nothing through: a black hole.
func (b *Bridge) Pause() { b.set(func() { b.paused = true }) }

// Cut closes every connection and each new one at once.
func (b *Bridge) Cut() {
	b.set(func() {
		b.cut = true
		b.drop()
	})
}

// Drop closes every connection, and lets new ones through.
func (b *Bridge) Drop() { b.set(b.drop) }

// Heal ends Pause and Cut. What was held back arrives.
func (b *Bridge) Heal() { b.set(func() { b.paused, b.cut = false, false }) }

// Connections is how many connections were made through the bridge so far.
func (b *Bridge) Connections() int64 { return b.dialed.Load() }

// Open is how many connections go through the bridge now.
func (b *Bridge) Open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns) / 2 // each has a client's and a server's side
}

func (b *Bridge) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	b.cond.Broadcast()
}

// drop closes all connections. b.mu is held.
func (b *Bridge) drop() {
	for c := range b.conns {
		_ = c.Close() // its goroutines notice
	}
}

func (b *Bridge) close() {
	b.set(func() {
		b.closed = true
		b.drop()
	})
	_ = b.listener.Close() // of loopback
	b.wg.Wait()
}

func (b *Bridge) accept() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.wg.Go(func() { b.serve(client) })
	}
}

func (b *Bridge) serve(client net.Conn) {
	defer client.Close()
	if !b.join(client) {
		return
	}
	defer b.leave(client)
	b.dialed.Add(1)
	server, err := net.DialTimeout("tcp", b.target, time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	if !b.join(server) {
		return
	}
	defer b.leave(server)
	var wg sync.WaitGroup
	wg.Go(func() { b.copy(server, client) })
	wg.Go(func() { b.copy(client, server) })
	wg.Wait()
}

// join waits while the bridge is paused, and returns false when c must be closed.
func (b *Bridge) join(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.paused && !b.cut && !b.closed {
		b.cond.Wait()
	}
	if b.cut || b.closed {
		return false
	}
	b.conns[c] = struct{}{}
	return true
}

func (b *Bridge) leave(c net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.conns, c)
}

// copy carries bytes from src to dst, and closes both when one of them ends.
func (b *Bridge) copy(dst, src net.Conn) {
	defer dst.Close()
	defer src.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			if !b.pass() {
				return
			}
			if _, err := dst.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits while the bridge is paused, and returns false when it is closed or cut.
func (b *Bridge) pass() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.paused && !b.cut && !b.closed {
		b.cond.Wait()
	}
	return !b.cut && !b.closed
}
