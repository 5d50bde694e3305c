package upstream

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/miekg/dns"
)

// errLost says that what the peer sends makes no sense, so that the connection must go.
var errLost = errors.New("the peer has lost track")

// read hands out replies until the connection ends.
func (c *streamConn) read() {
	in := bufio.NewReaderSize(c.conn, 4<<10)
	var message []byte
	c.conn.SetReadDeadline(c.nextCheck())
	for {
		prefix, err := in.Peek(2)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if broken := c.brokenBy(); broken != nil {
				c.fail(broken)
				return
			}
			if c.overdue(time.Now()) {
				c.s.remove(c)
				c.retire()
			}
			c.conn.SetReadDeadline(c.nextCheck())
			continue
		}
		if err == nil {
			message, err = c.readMessage(in, int(binary.BigEndian.Uint16(prefix)), message)
		}
		if err == nil {
			err = c.deliver(message)
		}
		if err != nil {
			c.fail(err)
			return
		}
	}
}

// readMessage reads the message of that size behind the two bytes of the prefix.
func (c *streamConn) readMessage(in *bufio.Reader, size int, buf []byte) ([]byte, error) {
	in.Discard(2)
	if in.Buffered() < size {
		c.conn.SetReadDeadline(time.Now().Add(c.s.cfg.readTimeout()))
		defer func() { c.conn.SetReadDeadline(c.nextCheck()) }()
	}
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	_, err := io.ReadFull(in, buf[:size])
	return buf[:size], err
}

// deliver hands one message to the question that it answers. An error says that the peer has lost track.
func (c *streamConn) deliver(message []byte) error {
	if len(message) < headerSize {
		return errLost
	}
	id := binary.BigEndian.Uint16(message)
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = now
	asked := c.waiting[id]
	if asked.x == nil {
		c.s.mismatched.Inc() // most likely a reply to somebody who did not wait for it
		c.strays++
		if gaveUp := c.queued - c.answers - uint64(len(c.waiting)); c.strays > gaveUp+maxMismatches {
			return errLost // some of these messages have no question at all
		}
		return nil
	}
	c.forget(id)
	if x := asked.x; !matches(x.query, x.qend, message) {
		c.s.mismatched.Inc()
		x.finish(nil, fmt.Errorf("%w: %s", ErrMismatch, firstName(message)), now)
		return errLost
	}
	if asked.n < c.answered {
		c.s.anyTurn.Store(true)
	}
	c.answered = max(c.answered, asked.n)
	c.answers++
	asked.x.finish(message, nil, now)
	return nil
}

// fail ends the connection: whoever waits on it may ask again elsewhere.
func (c *streamConn) fail(err error) {
	c.s.remove(c)
	err = fmt.Errorf("%w: %w", ErrClosed, err)
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) > 0 {
		c.s.endedEarly(c.answers)
	}
	for id, t := range c.waiting {
		c.forget(id)
		t.x.finish(nil, err, now)
	}
	c.retired = true
	c.finishIfDone()
}

// nextCheck is when c may have been idle for too long, or be too old.
func (c *streamConn) nextCheck() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return time.Now().Add(drain)
	}
	next := c.used.Add(c.idle)
	if c.until.Before(next) {
		next = c.until
	}
	// Questions that wait longer than that keep the connection; look again in a while.
	return later(next, time.Now().Add(100*time.Millisecond))
}

func (c *streamConn) overdue(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) == 0 && (!now.Before(c.until) || now.Sub(c.used) >= c.idle)
}

// keepalive takes over the idle timeout that the peer asks for (RFC 7828, section 3.3.2): ours is shorter or the same,
// and zero asks for a close as soon as nobody waits.
func (c *streamConn) keepalive(timeout time.Duration) {
	if timeout == 0 {
		c.s.remove(c)
		c.retire()
		return
	}
	c.mu.Lock()
	shorter := timeout < c.idle
	if shorter {
		c.idle = jitter(timeout)
	}
	c.mu.Unlock()
	if shorter {
		c.conn.SetReadDeadline(c.nextCheck())
	}
}

// firstName is the name that a message is about, for an error.
func firstName(message []byte) string {
	name, _, err := dns.UnpackDomainName(message, headerSize)
	if err != nil {
		return "unreadable"
	}
	return name
}
