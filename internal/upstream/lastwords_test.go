package upstream

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"
)

// lateReader fails the second write, as a connection does that the peer has closed after its first answer, and reads
// nothing before that.
type lateReader struct {
	net.Conn
	writes atomic.Int32
	failed chan struct{}
}

func (c *lateReader) Write(p []byte) (int, error) {
	if c.writes.Add(1) == 2 {
		close(c.failed)
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(p)
}

func (c *lateReader) Read(p []byte) (int, error) {
	<-c.failed
	return c.Conn.Read(p)
}

func TestReplyThatArrivedBeforeAWriteFailedIsNotLost(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	r := open(t, up)
	s := r.streams.(*streams)
	dial := s.connect
	var first sync.Once
	s.connect = func(ctx context.Context) (c *streamConn, err error) {
		first.Do(func() {
			var conn net.Conn
			if conn, err = net.Dial("tcp", up.Addr().String()); err == nil {
				c = newStreamConn(s, &lateReader{Conn: conn, failed: make(chan struct{})})
			}
		})
		if c != nil || err != nil {
			return c, err
		}
		return dial(ctx)
	}

	var all sync.WaitGroup
	all.Go(func() { ask(t, r, "tcp", "first.example.") })
	dnstest.WaitFor(t, "the first question", func() bool { return up.Questions("tcp") == 1 })
	ask(t, r, "tcp", "second.example.") // written in vain, and asked again on a new connection
	all.Wait()
	if n := up.Questions("tcp"); n != 2 {
		t.Errorf("the upstream saw %d questions, want each once", n)
	}
}
