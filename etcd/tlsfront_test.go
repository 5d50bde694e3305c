package etcd_test

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// tlsFront speaks TLS in front of an address that does not.
type tlsFront struct {
	config   atomic.Pointer[tls.Config] // of the next connection
	listener net.Listener
	target   string
	wg       sync.WaitGroup
}

func newTLSFront(t *testing.T, target string) *tlsFront {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &tlsFront{listener: l, target: target}
	f.wg.Go(f.accept)
	t.Cleanup(func() {
		l.Close()
		f.wg.Wait()
	})
	return f
}

func (f *tlsFront) url() string { return "https://" + f.listener.Addr().String() }

func (f *tlsFront) accept() {
	for {
		c, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.wg.Go(func() { f.join(tls.Server(c, f.config.Load())) })
	}
}

// join copies both ways until one side ends.
func (f *tlsFront) join(client net.Conn) {
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
