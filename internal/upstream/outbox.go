package upstream

import (
	"runtime"
	"sync"
)

const (
	// burstSize is how many questions leave with one system call, and from one socket, before the next one takes over. At 32
	// the system call that they share is no more than 3 % of one each.
	burstSize = 32
	// maxPosted bounds the questions that wait to be sent. The sender never blocks, so that they wait for the processor
	// alone; whoever finds the box full sends by itself.
	maxPosted = 1024
)

// outbox gathers the questions that are asked at the same moment, so that they leave with one system call. One goroutine,
// the sender, empties it.
type outbox struct {
	mu     sync.Mutex // guards the following
	batch  batch
	asleep bool // the sender waits for a call
	closed bool
	call   chan struct{} // holds one call
}

// batch is questions in the order in which they were posted.
type batch struct {
	postings []posting
	wire     []byte // of all of them, one behind the other
}

// posting is one question: the socket that it leaves from, and where it ends in the batch's bytes.
type posting struct {
	from *udpSocket
	end  int
}

func newOutbox() *outbox { return &outbox{call: make(chan struct{}, 1)} }

// post takes a copy of query, to be sent from s. It returns how many wait to be sent, with this one, and 0 when the caller
// has to send it.
func (b *outbox) post(s *udpSocket, query []byte) (waiting int) {
	b.mu.Lock()
	if b.closed || len(b.batch.postings) >= maxPosted {
		b.mu.Unlock()
		return 0
	}
	b.batch.wire = append(b.batch.wire, query...)
	b.batch.postings = append(b.batch.postings, posting{from: s, end: len(b.batch.wire)})
	waiting = len(b.batch.postings)
	call := b.asleep
	b.asleep = false
	b.mu.Unlock()
	if call {
		b.call <- struct{}{}
	}
	return waiting
}

// take waits for questions and returns them, leaving spare in their place. It returns none once the box is closed and
// empty.
func (b *outbox) take(spare batch) batch {
	clear(spare.postings)
	spare.postings, spare.wire = spare.postings[:0], spare.wire[:0]
	for {
		b.mu.Lock()
		if full := b.batch; len(full.postings) > 0 {
			b.batch = spare
			b.mu.Unlock()
			return full
		}
		closed := b.closed
		b.asleep = !closed
		b.mu.Unlock()
		if closed {
			return batch{}
		}
		<-b.call
		// Let those run first who are about to ask as well: their questions go out with this one. On an idle machine there is
		// nobody, and this returns at once.
		runtime.Gosched()
	}
}

// close ends the sender once it has sent what waits.
func (b *outbox) close() {
	b.mu.Lock()
	b.closed = true
	call := b.asleep
	b.asleep = false
	b.mu.Unlock()
	if call {
		b.call <- struct{}{}
	}
}

// send empties the outbox until it is closed. It is the sender, and owns its goroutine.
func (u *udp) send() {
	var out sender
	var b batch
	for {
		if b = u.out.take(b); len(b.postings) == 0 {
			return
		}
		u.nextSlot()
		wire := b.wire
		for start := 0; len(b.postings[start:]) > 0; {
			end, from := start, b.postings[start].from
			for end < len(b.postings) && b.postings[end].from == from && end-start < burstSize {
				end++
			}
			if err := out.send(from.conn, wire, b.postings[start:end], startOf(b.postings, start)); err != nil {
				from.fail(err) // most likely what ICMP said of an earlier question; whoever waits asks anew
			}
			start = end
		}
	}
}

// startOf is where question i begins in the batch's bytes.
func startOf(postings []posting, i int) int {
	if i == 0 {
		return 0
	}
	return postings[i-1].end
}
