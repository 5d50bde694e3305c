package upstream

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxQueued is how many bytes may wait to be written to a connection. A peer that does not read gets no more.
	maxQueued = 128 << 10
	// maxInFlight keeps IDs hard to guess and quick to find.
	maxInFlight = 1 << 14
	// drain is how long replies are still read from a connection that can no longer be written to. They have arrived
	// already, or never will.
	drain = 100 * time.Millisecond
)

// streamConn is one TCP or TLS connection and the questions that wait on it. Two goroutines serve it: one writes what is
// queued and closes the connection in the end, one reads replies and is there when the peer closes.
type streamConn struct {
	s       *streams
	conn    net.Conn
	local   net.Addr
	created time.Time
	until   time.Time // the end of its age
	running sync.WaitGroup
	// inFlight is the size of waiting, for those who compare connections.
	inFlight atomic.Int32
	wake     chan struct{} // tells the writer that out or finished has changed; one wake-up is remembered

	mu       sync.Mutex // guards the following
	waiting  map[uint16]turn
	queued   uint64 // questions so far
	answered uint64 // the latest of them that has been answered
	answers  uint64
	strays   uint64 // messages that nobody waited for
	out      []byte // to be written
	retired  bool   // takes no more questions, and is finished when none waits
	finished bool   // to be closed
	broken   error  // of a write; what has arrived before is still read
	used     time.Time
	heard    time.Time
	idle     time.Duration // how long it may be idle
}

// turn is a question in flight and the how manieth of its connection it is.
type turn struct {
	x *exchange
	n uint64
}

// newStreamConn takes conn over.
func newStreamConn(s *streams, conn net.Conn) *streamConn {
	now := time.Now()
	c := &streamConn{
		s:       s,
		conn:    conn,
		local:   conn.LocalAddr(),
		created: now,
		wake:    make(chan struct{}, 1),
		waiting: make(map[uint16]turn),
		until:   now.Add(lifetime(s.cfg)),
		used:    now,
		idle:    jitter(s.cfg.Expire),
	}
	c.running.Go(c.write)
	c.running.Go(c.read)
	return c
}

// join queues x under an ID that is free.
func (c *streamConn) join(x *exchange) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired || len(c.waiting) >= maxInFlight || len(c.out) > maxQueued || int64(c.queued) >= c.s.quota.Load() {
		return false
	}
	id := uint16(rand.Uint32())
	for c.waiting[id].x != nil {
		id = uint16(rand.Uint32())
	}
	x.setID(id)
	x.sent, x.local, x.stream = now, c.local, c
	c.queued++
	c.waiting[id] = turn{x: x, n: c.queued}
	c.inFlight.Add(1)
	c.used = now
	c.out = binary.BigEndian.AppendUint16(c.out, uint16(len(x.query)))
	c.out = append(c.out, x.query...)
	c.wakeWriter()
	return true
}

// ask waits for the reply to x.
func (c *streamConn) ask(ctx context.Context, x *exchange) (err error) {
	defer func() { c.leave(x, errors.Is(err, ErrTimeout)) }()
	now := time.Now()
	deadline := now.Add(c.s.cfg.readTimeout())
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	for {
		x.timer.Reset(x.sooner(now, deadline.Sub(now)))
		select {
		case <-x.done:
			return x.err
		case <-ctx.Done():
			return ofContext(ctx)
		case <-x.alarmed:
			x.tellSilent()
			now = time.Now()
		case now = <-x.timer.C:
			x.tellSlow(now)
			if !now.Before(deadline) {
				return ErrTimeout
			}
		}
	}
}

// leave takes x out of the table. inVain: it has timed out, and when nothing else has come in the meantime either, the
// connection is not trusted any more.
func (c *streamConn) leave(x *exchange, inVain bool) {
	c.mu.Lock()
	if c.waiting[x.id].x == x {
		c.forget(x.id)
	}
	idle := len(c.waiting) == 0
	silent := inVain && !c.heard.After(x.sent)
	c.finishIfDone()
	c.mu.Unlock()
	if silent || idle && c.s.tooManyIdle() {
		c.s.remove(c)
		c.retire()
	}
	if c.lastQuestion() {
		c.running.Wait()
	}
}

// forget takes id out of the table. The lock is held.
func (c *streamConn) forget(id uint16) {
	delete(c.waiting, id)
	c.inFlight.Add(-1)
}

// lastQuestion tells whether c is being closed after the resolver was: then whoever asks last waits for the end.
func (c *streamConn) lastQuestion() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finished && c.s.closed.Load()
}

func (c *streamConn) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = true
	c.finishIfDone()
}

func (c *streamConn) end() {
	c.retire()
	c.mu.Lock()
	finished := c.finished
	c.mu.Unlock()
	if finished {
		c.conn.SetWriteDeadline(time.Now()) // the writer may be at a write that takes long
		c.conn.Close()
		c.running.Wait()
	}
}

// finishIfDone has a retired connection closed when nobody waits on it. The lock is held.
func (c *streamConn) finishIfDone() {
	if c.retired && len(c.waiting) == 0 && !c.finished {
		c.finished = true
		if c.answers > 0 && int64(c.answers) >= c.s.quota.Load() {
			c.s.usedUp(c.answers)
		}
		c.wakeWriter()
	}
}

func (c *streamConn) wakeWriter() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *streamConn) busy() int { return int(c.inFlight.Load()) }

func (c *streamConn) born() time.Time { return c.created }

func (c *streamConn) aged() bool { return time.Now().After(c.until) }

func (c *streamConn) served() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answered > 0
}

// write sends what is queued, as much at a time as there is, and closes the connection in the end.
func (c *streamConn) write() {
	defer c.conn.Close()
	var spare []byte
	for range c.wake {
		// Whoever wakes a goroutine has it run next. Let those who have a question to ask run first, so that their questions
		// are in the same write; when nobody has, this costs nothing.
		runtime.Gosched()
		c.mu.Lock()
		batch, finished, broken := c.out, c.finished, c.broken != nil
		c.out = spare[:0]
		c.mu.Unlock()
		if finished {
			return
		}
		if len(batch) > 0 && !broken {
			c.conn.SetWriteDeadline(time.Now().Add(c.s.cfg.readTimeout()))
			if _, err := c.conn.Write(batch); err != nil {
				c.breakOff(err)
			}
		}
		spare = batch
	}
}

// breakOff is for a connection that cannot be written to. A peer that answers some questions and closes, while others are
// on their way to it, has answered those all the same: the reader ends the connection when it has read what there is.
func (c *streamConn) breakOff(err error) {
	c.s.remove(c)
	c.mu.Lock()
	c.broken, c.retired = err, true
	c.finishIfDone()
	c.mu.Unlock()
	c.conn.SetReadDeadline(time.Now().Add(drain))
}

// brokenBy is the error of the write that failed, or nil.
func (c *streamConn) brokenBy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}
