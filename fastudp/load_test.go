//go:build linux

package fastudp

import (
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// load asks at a steady rate until it is stopped, from several sockets, and counts what comes back.
type load struct {
	sent, got, twice atomic.Int64
	stop, done       chan struct{}
}

const loadSockets = 8

// loadWindow bounds the questions that are not answered yet, so that however slow the machine, no socket buffer
// overflows: the smallest one holds twice as many. A question that is lost keeps its place for ever.
const loadWindow = 128

// startLoad asks addr perSecond questions a second, each with a number of its own.
func startLoad(t *testing.T, addr string, perSecond int) *load {
	t.Helper()
	l := &load{stop: make(chan struct{}), done: make(chan struct{})}
	conns := make([]*net.UDPConn, loadSockets)
	for i := range conns {
		c, err := net.Dial("udp", addr)
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = c.(*net.UDPConn)
		_ = conns[i].SetReadBuffer(4 << 20)
		go l.count(conns[i])
	}
	wire := question(t, 0, "load.example.")
	go func() {
		defer close(l.done)
		begin := time.Now()
		for n := int64(0); ; n++ {
			select {
			case <-l.stop:
				return
			default:
			}
			if l.sent.Load()-l.got.Load() >= loadWindow ||
				int64(time.Since(begin)*time.Duration(perSecond)/time.Second) <= n {
				time.Sleep(100 * time.Microsecond) // the pace of the load, not a wait for something
				n--
				continue
			}
			binary.BigEndian.PutUint16(wire, uint16(n/loadSockets))
			if _, err := conns[n%loadSockets].Write(wire); err == nil {
				l.sent.Add(1)
			}
		}
	}()
	t.Cleanup(func() {
		l.end()
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return l
}

// count counts the replies on one socket. An ID comes back when as many questions have been asked: 65,536 each socket.
func (l *load) count(c *net.UDPConn) {
	var seen [1 << 16]bool
	buf := make([]byte, 512)
	for {
		n, err := c.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || n < headerSize {
			continue // the kernel says that nobody listens, which is a loss
		}
		id := binary.BigEndian.Uint16(buf)
		if seen[id] {
			l.twice.Add(1)
		}
		seen[id] = true
		seen[id+1<<15] = false
		l.got.Add(1)
	}
}

func (l *load) end() {
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	<-l.done
}

// check ends the load and fails the test when a question went unanswered, or was answered twice.
func (l *load) check(t *testing.T) {
	t.Helper()
	l.end()
	for deadline := time.Now().Add(patience / 2); l.got.Load() < l.sent.Load() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	t.Logf("%d questions", l.sent.Load())
	if lost := l.sent.Load() - l.got.Load(); lost != 0 {
		t.Errorf("%d of %d questions lost", lost, l.sent.Load())
	}
	if n := l.twice.Load(); n != 0 {
		t.Errorf("%d questions answered twice", n)
	}
}

// loadRate is 20,000 questions a second, less under the race detector, which is ten times slower.
func loadRate() int {
	if raceEnabled {
		return 4000
	}
	return 20000
}
