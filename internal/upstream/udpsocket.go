package upstream

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
)

const (
	// A socket is retired after a random time and a random number of questions, so that nobody who found out its port
	// has it for long.
	socketMinAge, socketMaxAge   = 10 * time.Second, 30 * time.Second
	socketMinUses, socketMaxUses = 512, 2048
	// maxMismatches is how many replies that nobody asked for a socket may get. Forging one reply takes thousands.
	maxMismatches = 16
	// lateIDs is how many IDs are remembered for replies that may still come. Those are late, not forged.
	lateIDs = 64
)

// udpSocket is one connected socket and the questions that wait on it.
type udpSocket struct {
	u     *udp
	slot  int
	conn  *net.UDPConn
	local net.Addr
	ended chan struct{} // closed when the reader is gone
	until time.Time     // the end of its age

	mu       sync.Mutex // guards the following; held for table look-ups and copies only
	waiting  map[uint16]*exchange
	retired  bool // takes no more questions, and is closed when none waits
	closed   bool
	uses     int // questions that it may still take
	used     time.Time
	heard    time.Time // when the last good reply came
	strays   int
	late     [lateIDs]uint16
	lateNext int
}

// newUDPSocket returns the socket of slot with x as its first question. The caller starts read.
func newUDPSocket(u *udp, slot int, conn *net.UDPConn, x *exchange) *udpSocket {
	now := time.Now()
	age := socketMinAge + rand.N(socketMaxAge-socketMinAge)
	if u.cfg.MaxAge > 0 {
		age = min(age, jitter(u.cfg.MaxAge))
	}
	s := &udpSocket{
		u:       u,
		slot:    slot,
		conn:    conn,
		local:   conn.LocalAddr(),
		ended:   make(chan struct{}),
		until:   now.Add(age),
		waiting: make(map[uint16]*exchange),
		uses:    socketMinUses + rand.IntN(socketMaxUses-socketMinUses),
	}
	s.add(x)
	return s
}

type addition int

const (
	added   addition = iota
	refused          // retired, or full
	worn             // due to be retired
)

// add puts x into the table under an ID that is free there; an ID that x has already is kept.
func (s *udpSocket) add(x *exchange) addition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return refused
	}
	if s.uses == 0 || x.sent.After(s.until) {
		return worn
	}
	if x.hasID {
		if s.waiting[x.id] != nil {
			return refused
		}
	} else {
		if len(s.waiting) > 1<<15 {
			return refused // free IDs would be hard to find, and easy to guess
		}
		id := uint16(rand.Uint32())
		for s.waiting[id] != nil {
			id = uint16(rand.Uint32())
		}
		x.setID(id)
	}
	s.waiting[x.id] = x
	s.uses--
	s.used = x.sent
	return added
}

// remove takes x out of the table, if a reply has not done so, and tells whether nobody waits any more and whether the
// socket is closed.
func (s *udpSocket) remove(x *exchange) (idle, closed bool) {
	s.mu.Lock()
	if s.waiting[x.id] == x {
		delete(s.waiting, x.id)
		s.remember(x.id)
	} else if x.resent {
		s.remember(x.id)
	}
	idle = len(s.waiting) == 0
	return idle, s.unlock()
}

// remember notes an ID for which a reply may come although nobody waits. The lock is held.
func (s *udpSocket) remember(id uint16) {
	s.late[s.lateNext%lateIDs] = id
	s.lateNext++
}

// wentSilent tells whether a socket that has brought replies has brought none since t. One that never has is as good as
// any other: the resolver itself may be away.
func (s *udpSocket) wentSilent(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.heard.IsZero() && !s.heard.After(t)
}

func (s *udpSocket) silentSince(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.heard.After(t)
}

// retireOnceIdle lets nobody in any more, closes the socket when nobody waits, and tells whether it is closed.
func (s *udpSocket) retireOnceIdle() (closed bool) {
	s.mu.Lock()
	s.retired = true
	return s.unlock()
}

// unlock gives up the lock, closes a retired socket on which nobody waits, which ends the reader, and tells whether the
// socket is closed. Closing waits for the reader to let go of the socket, and deliver, which runs inside a read, waits
// for the lock: so the order matters.
func (s *udpSocket) unlock() (closed bool) {
	last := s.retired && !s.closed && len(s.waiting) == 0
	s.closed = s.closed || last
	closed = s.closed
	s.mu.Unlock()
	if last {
		_ = s.conn.Close()
	}
	return closed
}

// stackRoom is how much stack a reader keeps in use. The runtime gives a new goroutine as much stack as those had in use
// on average that the last garbage collection saw. CoreDNS serves each question on a new goroutine that needs 5 KB here, and
// readers, which need next to nothing, are most of the others: without this a question outgrows its stack twice, which takes
// longer than all that is done with its messages (12 % of the server's CPU time in a profile of 200 questions in flight).
const stackRoom = 4 << 10

// read hands out replies until the socket is closed. It owns the socket's goroutine.
func (s *udpSocket) read() {
	var room [stackRoom]byte
	defer runtime.KeepAlive(&room)
	defer close(s.ended)
	in := newReceiver(s.conn)
	for {
		_ = s.conn.SetReadDeadline(s.nextCheck())
		err := in.each(s.deliver)
		switch {
		case err == nil:
			s.u.retire(s) // deliver has had enough of it
		case errors.Is(err, os.ErrDeadlineExceeded):
			if s.overdue(time.Now()) {
				s.u.retire(s)
			}
		default:
			s.fail(err)
			return
		}
	}
}

// nextCheck is when the socket may have become idle for too long, or too old. A retired one has nothing to check.
func (s *udpSocket) nextCheck() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return time.Time{}
	}
	next := s.until
	if idle := s.used.Add(s.u.cfg.Expire); s.u.cfg.Expire > 0 && idle.Before(next) {
		next = idle
	}
	// A question that waits longer than the socket may be idle keeps it; look again in a while.
	return later(next, time.Now().Add(100*time.Millisecond))
}

func (s *udpSocket) overdue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !now.Before(s.until) ||
		s.u.cfg.Expire > 0 && len(s.waiting) == 0 && now.Sub(s.used) >= s.u.cfg.Expire
}

// deliver hands one datagram to the question that it answers, or drops it. False says that the socket must go.
func (s *udpSocket) deliver(datagram []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(datagram) >= headerSize {
		id := binary.BigEndian.Uint16(datagram)
		if x := s.waiting[id]; x != nil && matches(x.query, x.qend, datagram) {
			delete(s.waiting, id)
			s.heard = time.Now()
			x.finish(datagram, nil, s.heard)
			return true
		}
		if s.isLate(id) {
			s.u.orphaned(s, id)
			return true
		}
	}
	s.u.mismatched.Inc()
	if s.strays++; s.strays == maxMismatches {
		s.failLocked(errSpoofed)
		return false
	}
	return true
}

func (s *udpSocket) isLate(id uint16) bool {
	for _, l := range s.late[:min(s.lateNext, lateIDs)] {
		if l == id {
			return true
		}
	}
	return false
}

// fail ends the socket: everybody who waits learns err.
func (s *udpSocket) fail(err error) {
	s.mu.Lock()
	s.failLocked(ofConn(err))
	s.mu.Unlock()
	s.u.retire(s)
}

func (s *udpSocket) failLocked(err error) {
	now := time.Now()
	for id, x := range s.waiting {
		delete(s.waiting, id)
		x.finish(nil, err, now)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
