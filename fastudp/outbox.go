package fastudp

import (
	"net"
	"runtime"
	"sync"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"
)

// maxQueued bounds the replies that wait for one socket. The socket blocks only when its send buffer is full, that
// is when the network takes less than it is given; at 512 bytes a reply the box then holds 2 MB. Who has a reply
// for a full box waits, so that the pressure reaches the crew, which refuses what is over its limit.
const maxQueued = 4096

// outbox holds the replies for one socket until its writer takes them, all at once.
type outbox struct {
	mu     sync.Mutex
	queue  []outgoing
	asleep bool // the writer waits for a call
	closed bool
	room   sync.Cond // the writer has emptied the box, or it was closed
	call   chan struct{}
}

// outgoing is one packed reply.
type outgoing struct {
	mmsg.Message
	buf *replyBuffer // holds Data and goes back to its pool once sent; nil when the data is its own
}

// replyBuffer is room for a reply of usual size: 1,232 bytes is what most resolvers ask for, 512 what others get.
type replyBuffer [2048]byte

var replyBuffers = sync.Pool{New: func() any { return new(replyBuffer) }}

// release ends the use of the message's buffer.
func (o *outgoing) release() {
	if o.buf != nil {
		replyBuffers.Put(o.buf)
	}
	*o = outgoing{}
}

func newOutbox() *outbox {
	b := &outbox{call: make(chan struct{}, 1)}
	b.room.L = &b.mu
	return b
}

// put queues a reply. The error is net.ErrClosed; the message is the caller's then.
func (b *outbox) put(o outgoing) error {
	b.mu.Lock()
	for len(b.queue) >= maxQueued && !b.closed {
		b.room.Wait()
	}
	if b.closed {
		b.mu.Unlock()
		return net.ErrClosed
	}
	b.queue = append(b.queue, o)
	call := b.asleep
	b.asleep = false
	b.mu.Unlock()
	if call {
		b.call <- struct{}{}
	}
	return nil
}

// take returns all replies that are queued and leaves empty, a slice of the caller's, in their place. With nothing
// queued it waits. It returns nil once the box is closed and empty.
func (b *outbox) take(empty []outgoing) []outgoing {
	for {
		b.mu.Lock()
		if len(b.queue) > 0 {
			full := b.queue
			b.queue = empty
			b.room.Broadcast()
			b.mu.Unlock()
			return full
		}
		if b.closed {
			b.mu.Unlock()
			return nil
		}
		b.asleep = true
		b.mu.Unlock()
		<-b.call
		// Let those go first that are about to have a reply as well: it goes out with this one. On an idle machine
		// there is nobody, and this returns at once.
		runtime.Gosched()
	}
}

// close ends the box: what is queued is still taken, what comes later is turned away.
func (b *outbox) close() {
	b.mu.Lock()
	b.closed = true
	call := b.asleep
	b.asleep = false
	b.room.Broadcast()
	b.mu.Unlock()
	if call {
		b.call <- struct{}{}
	}
}
