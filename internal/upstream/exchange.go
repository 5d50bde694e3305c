package upstream

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// carrier brings questions to the resolver over one transport and fetches the replies.
type carrier interface {
	// carry sends x.query and leaves the reply in x.reply, with the ID of the query and matching its question. It returns
	// at the end of ctx at the latest. Safe for concurrent use; x belongs to the call.
	carry(ctx context.Context, x *exchange) error
	// limits says how a question must be packed for this transport.
	limits() packing
	// close ends idle connections and returns when their goroutines are gone. Questions that are under way are finished,
	// and later ones get a connection of their own.
	close()
}

// exchange is one question under way. It is reused, buffers and all: a question costs no allocation before its reply
// is unpacked.
type exchange struct {
	query  []byte // never changes while it is in a table, where readers look at it
	qend   int    // end of the question section in query
	id     uint16 // the ID in query, when hasID
	hasID  bool
	resent bool // went out more than once, so that more than one reply may come
	lost   bool // the reply is to a retransmission: what had been sent before never arrived
	probe  bool // sent again soon: a resolver that is back should be noticed soon

	reply []byte
	age   uint32        // seconds that the reply has spent in caches on its way
	err   error         // why there is no reply
	done  chan struct{} // gets one value when reply or err is there
	// claimed is set by whoever fills in reply and err: a question may be in two tables.
	claimed atomic.Bool

	proto    string // "udp" or "tcp"
	local    net.Addr
	stream   *streamConn // nil for what is no stream
	sent     time.Time   // of the first transmission
	received time.Time
	deadline time.Time // for UDP
	timer    *time.Timer

	waiter  Waiter          // nil: nobody wants to know that the reply is late
	lateAt  time.Time       // zero: never, or the waiter has been told
	alarm   *alarm          // of the resolver
	alarmed <-chan struct{} // of alarm; nil once the waiter has been told
}

var exchanges = newExchanges()

func newExchanges() *sync.Pool {
	return &sync.Pool{New: func() any {
		t := time.NewTimer(time.Hour)
		t.Stop()
		return &exchange{
			query: make([]byte, 0, 512),
			reply: make([]byte, 0, 2048),
			done:  make(chan struct{}, 1),
			timer: t,
		}
	}}
}

// maxKept bounds the buffers that go back to the pool: one large reply must not stay with every exchange for ever.
const maxKept = 8 << 10

func newExchange() *exchange {
	return exchanges.Get().(*exchange)
}

// release gives x back. It is in no table any more.
func (x *exchange) release() {
	x.timer.Stop()
	x.reset()
	x.probe, x.waiter, x.alarm, x.alarmed, x.lateAt = false, nil, nil, nil, time.Time{}
	if cap(x.query) > maxKept {
		x.query = make([]byte, 0, 512)
	}
	if cap(x.reply) > maxKept {
		x.reply = make([]byte, 0, 2048)
	}
	exchanges.Put(x)
}

// reset makes x ready to be asked again. It is in no table.
func (x *exchange) reset() {
	select {
	case <-x.done:
	default:
	}
	x.hasID, x.resent, x.lost, x.err, x.age = false, false, false, nil, 0
	x.claimed.Store(false)
	x.local, x.stream = nil, nil
	x.sent, x.received = time.Time{}, time.Time{}
}

func (x *exchange) setID(id uint16) {
	x.id, x.hasID = id, true
	x.query[0], x.query[1] = byte(id>>8), byte(id)
}

// finish hands a reply, or the reason why there is none, to whoever waits on done. Only the first call counts. The
// caller holds the lock of a table that x was in, and has taken it out: whoever has been through the same lock to remove
// x knows that nobody writes to it any more.
func (x *exchange) finish(reply []byte, err error, now time.Time) {
	if !x.claimed.CompareAndSwap(false, true) {
		return
	}
	x.reply = append(x.reply[:0], reply...)
	x.err = err
	x.received = now
	x.done <- struct{}{}
}
