package fastudp

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"
)

// lane is one socket of a front with all that serves it: a goroutine that reads, a crew that answers, and a goroutine
// that writes.
type lane struct {
	front *front
	index int // among the lanes of the front
	sock  *mmsg.Socket
	local *net.UDPAddr
	crew  *crew
	out   *outbox

	drain    atomic.Pointer[drain] // nil until the lane is to end
	readDone chan struct{}         // closed when the reader has ended
	sentAll  chan struct{}         // closed when the writer has ended
}

// drain says how a lane ends its reading.
type drain struct {
	quiet time.Duration // end once nothing has come for so long
	until time.Time     // end then in any case
}

// readPause is the wait after a failure of the kernel to receive, for want of memory say, so that a failure that
// stays does not keep a processor busy.
const readPause = 50 * time.Millisecond

func newLane(f *front, index int, sock *mmsg.Socket) *lane {
	l := &lane{
		front: f, index: index, sock: sock, local: sock.LocalAddr(), out: newOutbox(),
		readDone: make(chan struct{}), sentAll: make(chan struct{}),
	}
	l.crew = newCrew(l.answer)
	return l
}

func (l *lane) start() {
	go l.read()
	go l.write()
}

// read hands what comes in to the crew until the lane is drained or its socket closed.
func (l *lane) read() {
	defer close(l.readDone)
	reader := l.sock.NewReader()
	for {
		d := l.drain.Load()
		if d != nil {
			_ = l.sock.SetReadDeadline(time.Now().Add(d.quiet)) // an error is one of Read as well
		}
		batch, err := reader.Read()
		switch {
		case err == nil:
			l.front.count.received.Add(float64(len(batch)))
			l.front.count.receivedBatches.Inc()
			if refused := l.crew.put(batch); refused > 0 {
				l.front.count.busy.Add(float64(refused))
			}
			if d != nil && time.Now().After(d.until) {
				return
			}
			// The crew goes first. By the time it is through more has come, and is read without a wait in between.
			runtime.Gosched()
		case errors.Is(err, os.ErrDeadlineExceeded):
			if d != nil && reader.Emptied() {
				return
			}
		case errors.Is(err, net.ErrClosed):
			return
		default:
			log.Warningf("%s: receiving: %v", l.front.address, err)
			time.Sleep(readPause)
		}
	}
}

// endReading has the reader end as d says, and waits for it.
func (l *lane) endReading(d drain) {
	_ = l.sock.SetReadDeadline(time.Unix(1, 0)) // wakes the reader. It sets a deadline of its own once it sees the drain
	l.drain.Store(&d)
	<-l.readDone
}

// write sends what the outbox holds until it is closed and empty.
func (l *lane) write() {
	defer close(l.sentAll)
	var (
		writer = l.sock.NewWriter()
		batch  []outgoing
	)
	for {
		if batch = l.out.take(batch[:0]); batch == nil {
			return
		}
		for rest := batch; len(rest) > 0; {
			rest = rest[l.send(writer, rest):]
		}
		for i := range batch {
			batch[i].release()
		}
	}
}

// send sends the first of the messages and returns how many are done with, at least one.
func (l *lane) send(writer *mmsg.Writer, out []outgoing) int {
	var messages [mmsg.MaxBatch]mmsg.Message
	n := min(len(out), len(messages))
	for i := range out[:n] {
		messages[i] = out[i].Message
	}
	sent, err := writer.Write(messages[:n])
	if sent > 0 {
		l.front.count.sent.Add(float64(sent))
		l.front.count.sentBatches.Inc()
	}
	if err == nil {
		return sent
	}
	l.front.count.unsent.Inc() // the client asks again; there is nobody else to tell
	return sent + 1
}

// answer is what the crew does with a datagram: it has the tenure in force answer it.
func (l *lane) answer(d *mmsg.Datagram) {
	t := l.enter()
	defer t.active[l.index].n.Add(-1)
	t.serve(l, d)
}

// enter returns the tenure in force and counts the caller as active in it. One that sees a tenure in force after it
// has been counted is seen by whoever replaces the tenure and then waits for its count to fall to zero.
func (l *lane) enter() *tenure {
	for {
		t := l.front.current.Load()
		t.active[l.index].n.Add(1)
		if l.front.current.Load() == t {
			return t
		}
		t.active[l.index].n.Add(-1)
	}
}

// close ends the lane after its reader: it waits for the questions in progress and sends their replies, at most until
// the deadline, and closes the socket.
func (l *lane) close(deadline time.Time, settle time.Duration) {
	if !l.crew.close(deadline) {
		log.Warningf("%s: questions still in progress after %s are not answered any more", l.front.address, grace)
	}
	if settle > 0 {
		time.Sleep(settle)
	}
	l.out.close()
	_ = l.sock.SetWriteDeadline(deadline.Add(settle)) // a socket without room must not hold up the end
	<-l.sentAll
}
