package upstream

import (
	"crypto/tls"
	"encoding/binary"
	"net"
	"sync"
)

// secureConn puts each message into a TLS record of its own, and the records of one Write into one system call. Some
// servers (NSD 4.6 for one) read one message a record and look for the next when more arrives on the socket, so that a
// second message in the same record waits for a third question to be asked.
type secureConn struct {
	*tls.Conn
	records *recordBuffer
}

// newSecureConn returns the client's side of a TLS connection over conn, before the handshake.
func newSecureConn(conn net.Conn, config *tls.Config) *secureConn {
	records := &recordBuffer{Conn: conn}
	return &secureConn{Conn: tls.Client(records, config), records: records}
}

// Write sends whole messages, each with its length before it (RFC 1035, section 4.2.2).
func (c *secureConn) Write(messages []byte) (n int, err error) {
	c.records.hold()
	for n < len(messages) {
		end := n + 2 + int(binary.BigEndian.Uint16(messages[n:]))
		if _, err = c.Conn.Write(messages[n:end]); err != nil {
			break
		}
		n = end
	}
	if flushed := c.records.flush(); err == nil {
		err = flushed
	}
	return n, err
}

// recordBuffer is a connection that keeps what is written back while it is told to. TLS writes to it from the goroutine
// that reads, too (alerts, key updates).
type recordBuffer struct {
	net.Conn

	mu   sync.Mutex // guards the following, and the order of writes
	held bool
	kept []byte
}

// Write implements net.Conn.
func (b *recordBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held {
		b.kept = append(b.kept, p...)
		return len(p), nil
	}
	return b.Conn.Write(p)
}

func (b *recordBuffer) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = true
}

// flush writes what was kept.
func (b *recordBuffer) flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = false
	if len(b.kept) == 0 {
		return nil
	}
	_, err := b.Conn.Write(b.kept)
	b.kept = b.kept[:0]
	return err
}
