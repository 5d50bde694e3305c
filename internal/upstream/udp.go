package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// udpSlots is the number of sockets that questions are spread over at random: with the 16 bits of the ID, someone off
// the path has to guess 22 bits for each forged reply. More cost wake-ups, fewer cost safety (RFC 5452, section 9.2).
// Questions that are asked at the same moment share the socket that was drawn for them. That is no help for a guesser: a
// forged reply is for one of them, by its name, and has the socket and the ID of that one to guess as ever.
const udpSlots = 64

// errSpoofed ends the wait on a socket that gets too many replies that nobody asked for. The question goes on over TCP.
var errSpoofed = errors.New("too many mismatched replies")

// udp carries questions over sockets that they share. Each socket is connected, so that the kernel drops what comes
// from elsewhere, and is picked at random for each question; questions on a socket are told apart by their IDs.
type udp struct {
	cfg     Config
	network string
	dialer  net.Dialer
	remote  string
	latency *latency
	meters  *meters
	health  *health

	hits, misses, mismatched prometheus.Counter

	abandoned abandoned

	slots [udpSlots]atomic.Pointer[udpSocket]
	open  atomic.Int32 // sockets in slots
	slot  atomic.Int32 // whose turn it is
	out   *outbox
	sends sync.WaitGroup // the sender

	mu      sync.Mutex // held while a slot is filled; guards the following
	sending bool       // the sender has been started
	closed  bool
}

func newUDP(c Config, m *meters, h *health) *udp {
	u := &udp{cfg: c, network: "udp4", remote: c.Addr.String(), latency: new(latency), meters: m, health: h, out: newOutbox()}
	u.nextSlot()
	u.dialer = net.Dialer{Control: reportUnreachable}
	if c.Addr.Addr().Unmap().Is6() {
		u.network = "udp6"
	}
	if c.Source.IsValid() {
		u.dialer.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.Source, 0))
	}
	u.hits, u.misses = m.cache("udp")
	u.mismatched = m.mismatches("udp")
	h.often = u.countLost
	return u
}

func (u *udp) limits() packing { return packing{} }

// carry implements carrier. A socket that breaks although it had worked before costs a new socket, not the attempt.
func (u *udp) carry(ctx context.Context, x *exchange) error {
	x.proto = "udp"
	x.sent = time.Now()
	x.deadline = x.sent.Add(u.cfg.readTimeout())
	if d, ok := ctx.Deadline(); ok && d.Before(x.deadline) {
		x.deadline = d
	}
	s, reused, err := u.enlist(x)
	if err != nil {
		return ofDial(err)
	}
	err = u.ask(ctx, x, s)
	if err == nil || !reused || !errors.Is(err, ErrRefused) {
		return err
	}
	return u.askAnew(ctx, x, s)
}

// askAnew asks x over a socket that is not old, which has failed.
func (u *udp) askAnew(ctx context.Context, x *exchange, old *udpSocket) error {
	sent := x.sent
	x.reset()
	x.sent = sent
	s, err := u.fresh(old.slot, old, x)
	if err != nil {
		return ofDial(err)
	}
	return u.ask(ctx, x, s)
}

// ask sends x from s, in whose table it is, and waits for the reply. On return x is in no table.
func (u *udp) ask(ctx context.Context, x *exchange, s *udpSocket) (err error) {
	var resent time.Time // when it last was
	var moved *udpSocket // the second socket of a question whose first one has gone silent
	defer func() {
		silent := errors.Is(err, ErrTimeout)
		u.leave(s, x, silent)
		if moved != nil {
			u.leave(moved, x, silent)
		}
		if errors.Is(err, ErrCanceled) {
			u.abandon(s, x)
		}
	}()
	x.local = s.local
	if err := u.post(s, x); err != nil {
		return err
	}
	now := time.Now()
	delay := u.latency.rto()
	if x.probe {
		delay = probeRTO
	}
	resend := now.Add(delay)
	for sends := 1; ; {
		wait := x.deadline.Sub(now)
		if sends < maxSends {
			wait = min(wait, resend.Sub(now))
		}
		x.timer.Reset(x.sooner(now, wait))
		select {
		case <-x.done:
			if x.err == nil {
				u.latency.add(x.received.Sub(x.sent))
				x.lost = x.resent && u.isToLast(x.received.Sub(resent))
			}
			return x.err
		case <-ctx.Done():
			return ofContext(ctx)
		case <-x.alarmed:
			x.tellSilent()
			now = time.Now()
			continue
		case now = <-x.timer.C:
		}
		x.tellSlow(now)
		if !now.Before(x.deadline) {
			return ErrTimeout
		}
		if sends == maxSends || now.Before(resend) {
			continue
		}
		sends++
		delay *= 2
		resend = now.Add(delay)
		if !u.health.pace.take(u.health.at(now)) {
			u.meters.limited(errRate)
			continue
		}
		resent = now
		u.meters.resent.Inc()
		from := s
		if moved == nil && s.wentSilent(x.sent) {
			moved, _ = u.fresh(s.slot, s, x)
		}
		if moved != nil {
			from = moved
		}
		// An error is the reader's to see, and a lost retransmission is not worth more than the next one.
		_, _ = from.conn.Write(x.query)
		x.resent = true
	}
}

// post has x sent from s, together with what else is being asked.
func (u *udp) post(s *udpSocket, x *exchange) error {
	waiting := u.out.post(s, x.query)
	if waiting > 0 {
		if waiting%burstSize == 0 {
			u.nextSlot()
		}
		return nil
	}
	if _, err := s.conn.Write(x.query); err != nil {
		u.retire(s)
		return ofConn(err)
	}
	return nil
}

// nextSlot draws the socket for what is asked from now on.
func (u *udp) nextSlot() { u.slot.Store(rand.Int32N(udpSlots)) }

// isToLast tells whether a reply that came so long after a retransmission is to that one, so that what was sent before
// was lost and not just slow: it came as soon as replies usually do, and not sooner than they can.
func (u *udp) isToLast(after time.Duration) bool {
	usual := time.Duration(u.health.median.Load())
	return after >= time.Duration(u.latency.fastest.Load()) && after <= max(2*usual, 20*time.Millisecond)
}

// enlist puts x into the table of the socket whose turn it is, opening it if need be.
func (u *udp) enlist(x *exchange) (s *udpSocket, reused bool, err error) {
	slot := int(u.slot.Load())
	if s := u.slots[slot].Load(); s != nil {
		switch s.add(x) {
		case added:
			u.hits.Inc()
			return s, true, nil
		case worn:
			u.retire(s)
		}
	}
	s, err = u.fresh(slot, nil, x)
	return s, false, err
}

// fresh puts x into the table of the socket in slot, which it replaces when it is old. When x has an ID it is kept.
func (u *udp) fresh(slot int, old *udpSocket, x *exchange) (*udpSocket, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	// Somebody else may have been here first.
	if s := u.slots[slot].Load(); s != nil && s != old && s.add(x) == added {
		u.misses.Inc()
		return s, nil
	}
	conn, err := u.dialer.Dial(u.network, u.remote)
	if err != nil {
		return nil, err
	}
	s := newUDPSocket(u, slot, conn.(*net.UDPConn), x)
	u.misses.Inc()
	if u.closed {
		s.retireOnceIdle()
	} else if old := u.slots[slot].Swap(s); old == nil {
		u.open.Add(1)
	} else {
		old.retireOnceIdle()
	}
	go s.read()
	if !u.sending && !u.closed {
		u.sending = true
		u.sends.Go(u.send)
	}
	return s, nil
}

// leave takes x out of s. silent: x has waited in vain.
func (u *udp) leave(s *udpSocket, x *exchange, silent bool) {
	idle, closed := s.remove(x)
	switch {
	case silent && s.silentSince(x.sent):
		closed = u.retire(s) // its path may be dead: a stale NAT entry, an address that is gone
	case idle && u.cfg.MaxIdleConns > 0 && int(u.open.Load()) > u.cfg.MaxIdleConns, idle && u.cfg.Expire <= 0:
		closed = u.retire(s)
	}
	if closed {
		<-s.ended
	}
}

// retire takes s out of use, and tells whether it is closed. Questions that are waiting on it go on waiting.
func (u *udp) retire(s *udpSocket) (closed bool) {
	if u.slots[s.slot].CompareAndSwap(s, nil) {
		u.open.Add(-1)
	}
	return s.retireOnceIdle()
}

// close implements carrier.
func (u *udp) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.out.close()
	u.sends.Wait()
	for i := range u.slots {
		if s := u.slots[i].Load(); s != nil && u.retire(s) {
			<-s.ended
		}
	}
}
