package fastudp

import (
	"sync"
	"time"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"
)

// crew answers datagrams on goroutines that are kept. A datagram waits only while the processor is busy: whoever takes
// one while others wait first sees to it that the next worker is on its way, and only then goes to work, so that one
// that blocks holds up nobody, and workers that do not block take one datagram after the other without a change of
// goroutine.
type crew struct {
	answer func(*mmsg.Datagram) // called by workers; owns the datagram

	mu      sync.Mutex
	limit   int              // datagrams waiting or being answered; more are refused
	waiting []*mmsg.Datagram // from head on
	head    int
	busy    int       // datagrams being answered
	idle    []*worker // the one idle for the shortest time last: its stack is the warmest
	spare   int       // the fewest that were idle at a time since the last trim
	workers int
	onWay   bool // a worker has been called and has not looked yet
	full    bool // put waits until half of maxWaiting is left
	room    sync.Cond
	closed  bool
	gone    chan struct{} // closed when closed and the last worker has left
}

// maxWaiting bounds the datagrams that wait for the processor: some 10 ms of work for one core. While so many wait the
// reader rests, and what comes in stays with the kernel, whose queue is short, and who drops what is too much at less
// cost than anybody here.
const maxWaiting = 1024

// worker is one goroutine of a crew.
type worker struct {
	call  chan struct{} // holds one call
	leave bool          // set before a call: leave instead of work. Guarded by crew.mu.
}

// keepIdle is how many idle workers outlast every trim, so that the question after a quiet hour finds one.
const keepIdle = 2

func newCrew(answer func(*mmsg.Datagram)) *crew {
	c := &crew{answer: answer, gone: make(chan struct{})}
	c.room.L = &c.mu
	return c
}

// setLimit says how many datagrams may wait or be answered at a time. A crew starts with none.
func (c *crew) setLimit(n int) {
	c.mu.Lock()
	c.limit = n
	c.mu.Unlock()
}

// put hands over a batch, and returns how many of its last datagrams were over the limit; those are released. It waits
// while too many wait. One goroutine alone may call it.
func (c *crew) put(batch []*mmsg.Datagram) (refused int) {
	c.mu.Lock()
	room := c.limit - c.busy - (len(c.waiting) - c.head)
	if c.closed {
		room = 0
	}
	taken := batch[:min(len(batch), max(room, 0))]
	if c.head > 0 && len(c.waiting)+len(taken) > cap(c.waiting) {
		n := copy(c.waiting, c.waiting[c.head:])
		clear(c.waiting[n:])
		c.waiting, c.head = c.waiting[:n], 0
	}
	c.waiting = append(c.waiting, taken...)
	w := c.callLocked()
	c.mu.Unlock()
	if w != nil {
		w.call <- struct{}{}
	}
	for _, d := range batch[len(taken):] {
		d.Release()
	}
	c.waitForRoom()
	return len(batch) - len(taken)
}

// waitForRoom waits while maxWaiting datagrams wait, until half of them have found a worker.
func (c *crew) waitForRoom() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.full = len(c.waiting)-c.head >= maxWaiting; c.full; {
		c.room.Wait()
	}
}

// callLocked picks an idle worker for the caller to call once it has unlocked, or starts one. There is nothing to do
// when nothing waits or somebody is on the way.
func (c *crew) callLocked() *worker {
	if c.onWay || c.head == len(c.waiting) {
		return nil
	}
	c.onWay = true
	if n := len(c.idle) - 1; n >= 0 {
		w := c.idle[n]
		c.idle[n] = nil
		c.idle = c.idle[:n]
		c.spare = min(c.spare, n)
		return w
	}
	c.workers++ // no more than limit: every other worker is busy
	go c.work(&worker{call: make(chan struct{}, 1)})
	return nil
}

// work is a worker's life.
func (c *crew) work(w *worker) {
	called, worked := true, false
	for {
		c.mu.Lock()
		if called {
			c.onWay = false
		}
		if worked {
			c.busy--
		}
		if c.head == len(c.waiting) {
			if c.closed || w.leave {
				c.leaveLocked()
				c.mu.Unlock()
				return
			}
			c.idle = append(c.idle, w)
			c.mu.Unlock()
			<-w.call
			called, worked = !w.leave, false
			continue
		}
		d := c.waiting[c.head]
		c.waiting[c.head] = nil
		if c.head++; c.head == len(c.waiting) {
			c.waiting, c.head = c.waiting[:0], 0
		}
		if c.full && len(c.waiting)-c.head <= maxWaiting/2 {
			c.full = false
			c.room.Signal()
		}
		c.busy++
		next := c.callLocked()
		c.mu.Unlock()
		if next != nil {
			next.call <- struct{}{}
		}
		c.answer(d)
		called, worked = false, true
	}
}

func (c *crew) leaveLocked() {
	if c.workers--; c.workers == 0 && c.closed {
		close(c.gone)
	}
}

// trim sends away the workers that were idle all the time since the last trim.
func (c *crew) trim() {
	c.mu.Lock()
	n := max(0, min(c.spare, len(c.idle)-keepIdle))
	leaving := append([]*worker(nil), c.idle[:n]...)
	c.idle = append(c.idle[:0], c.idle[n:]...)
	c.spare = len(c.idle)
	for _, w := range leaving {
		w.leave = true
	}
	c.mu.Unlock()
	for _, w := range leaving {
		w.call <- struct{}{}
	}
}

// close refuses further datagrams, sends the idle workers away and waits until those that wait and those being
// answered are through, at most until the deadline. Workers that are still blocked then leave when they are done.
func (c *crew) close(deadline time.Time) (finished bool) {
	c.mu.Lock()
	c.closed = true
	leaving := c.idle
	c.idle = nil
	for _, w := range leaving {
		w.leave = true
	}
	if c.workers == 0 {
		close(c.gone)
	}
	c.mu.Unlock()
	for _, w := range leaving {
		w.call <- struct{}{}
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-c.gone:
		return true
	case <-timer.C:
		return false
	}
}
