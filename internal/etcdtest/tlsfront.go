package etcdtest

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// TLSFront speaks TLS in front of an etcd, which does not.
type TLSFront struct {
	Config   atomic.Pointer[tls.Config] // of the next connections; set it before the first
	listener net.Listener
	target   string
	wg       sync.WaitGroup
}

// NewTLSFront starts one in front of the bridge of e, until the test ends.
func NewTLSFront(t testing.TB, e *Etcd) *TLSFront {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &TLSFront{listener: l, target: e.bridge.Addr()}
	f.wg.Go(f.accept)
	t.Cleanup(func() {
		l.Close()
		f.wg.Wait()
	})
	return f
}

// Endpoint is its URL.
func (f *TLSFront) Endpoint() string { return "https://" + f.listener.Addr().String() }

func (f *TLSFront) accept() {
	for {
		c, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.wg.Go(func() { f.join(tls.Server(c, f.Config.Load())) })
	}
}

// join copies both ways until one side ends.
func (f *TLSFront) join(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", f.target)
	if err != nil {
		return
	}
	defer server.Close()
	f.wg.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
}
