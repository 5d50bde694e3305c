package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// maxRedials is how often a question moves on from a connection that died under it.
const maxRedials = 3

// streams carries questions over a few TCP or TLS connections, many at a time on each and with replies in any order
// (RFC 7766, section 6.2.1.1).
type streams struct {
	cfg    Config
	proto  string
	dialer net.Dialer
	tls    *tls.Config // nil for plain TCP

	hits, misses, mismatched prometheus.Counter
	latency                  latency
	// anyTurn: some connection has brought a reply out of turn, so that the peer works on questions side by side.
	anyTurn atomic.Bool
	// closed is set under mu, and read without by those who need not be exact.
	closed atomic.Bool

	stopDials context.CancelFunc
	dialCtx   context.Context
	dialing   sync.WaitGroup

	mu    sync.Mutex    // guards the following; held for look-ups only
	conns []*streamConn // those that take questions, oldest first
	dials []*dial
}

// dial is a connection in the making, and who waits for it.
type dial struct {
	waiting int           // guarded by streams.mu
	done    chan struct{} // closed when conn or err is there
	conn    *streamConn
	err     error
}

func newStreams(c Config, m *meters) *streams {
	s := &streams{cfg: c, proto: "tcp"}
	if c.Source.IsValid() {
		s.dialer.LocalAddr = &net.TCPAddr{IP: c.Source.AsSlice(), Zone: c.Source.Zone()}
	}
	if c.Transport == TLS {
		s.proto = "tcp-tls"
		s.tls = clientTLS(c)
	}
	s.hits, s.misses = m.cache(s.proto)
	s.mismatched = m.mismatches(s.proto)
	s.dialCtx, s.stopDials = context.WithCancel(context.Background())
	return s
}

func (s *streams) limits() packing { return packing{keepalive: true, pad: s.tls != nil} }

// carry implements carrier. A connection that dies after it had worked costs a new one, not the attempt.
func (s *streams) carry(ctx context.Context, x *exchange) error {
	x.proto = "tcp"
	var since time.Time // only connections made after the last one died
	for try := 0; ; try++ {
		c, reused, err := s.enlist(ctx, x, since)
		if err == nil {
			err = c.ask(ctx, x)
		}
		if err == nil || !reused || !errors.Is(err, ErrClosed) || try == maxRedials {
			return err
		}
		since = time.Now()
		x.reset()
	}
}

// enlist queues x on a connection that was made after since, waiting for one if need be. reused says that the
// connection was not made for x.
func (s *streams) enlist(ctx context.Context, x *exchange, since time.Time) (c *streamConn, reused bool, err error) {
	s.mu.Lock()
	if s.closed.Load() {
		s.mu.Unlock()
		c, err = s.single(ctx, x)
		return c, false, err
	}
	for c := s.best(since); c != nil; c = s.best(since) {
		if c.add(x) {
			s.growLocked()
			s.mu.Unlock()
			s.hits.Inc()
			return c, true, nil
		}
		s.removeLocked(c)
		c.retire()
	}
	d := s.waitLocked()
	s.mu.Unlock()
	s.misses.Inc()

	select {
	case <-d.done:
	case <-ctx.Done():
		return nil, false, ofContext(ctx)
	}
	switch {
	case d.err != nil && s.dialCtx.Err() != nil:
		return nil, true, ErrClosed // it was the resolver that was closed
	case d.err != nil:
		return nil, false, d.err
	case d.conn.add(x):
		return d.conn, d.conn.hasServed(), nil
	}
	return nil, true, ErrClosed // others have used it up
}

// best returns the connection with the fewest questions in flight, the oldest one among equals so that the others
// become idle. The lock is held.
func (s *streams) best(since time.Time) *streamConn {
	var best *streamConn
	for _, c := range s.conns {
		if c.created.After(since) && (best == nil || c.inFlight.Load() < best.inFlight.Load()) {
			best = c
		}
	}
	return best
}

// growLocked starts another connection when those that there are have too much to do. The lock is held.
func (s *streams) growLocked() {
	if s.loadLocked().wantsMore() {
		s.dialLocked()
	}
}

// waitLocked returns a connection in the making to wait for. The lock is held.
func (s *streams) waitLocked() *dial {
	if l := s.loadLocked(); len(s.dials) == 0 || l.wantsMore() {
		s.dialLocked()
	}
	d := slices.MinFunc(s.dials, func(a, b *dial) int { return a.waiting - b.waiting })
	d.waiting++
	return d
}

func (s *streams) loadLocked() load {
	l := load{
		conns:   len(s.conns),
		dials:   len(s.dials),
		least:   1 << 30,
		anyTurn: s.anyTurn.Load(),
		latency: s.latency.mean(),
		fastest: time.Duration(s.latency.fastest.Load()),
	}
	for _, c := range s.conns {
		l.least = min(l.least, int(c.inFlight.Load()))
	}
	for _, d := range s.dials {
		l.least = min(l.least, d.waiting)
	}
	return l
}

// dialLocked starts to make a connection. The lock is held.
func (s *streams) dialLocked() {
	d := &dial{done: make(chan struct{})}
	s.dials = append(s.dials, d)
	s.dialing.Go(func() {
		conn, err := s.dial(s.dialCtx)
		s.mu.Lock()
		s.dials = slices.DeleteFunc(s.dials, func(other *dial) bool { return other == d })
		d.err = err
		if err == nil {
			d.conn = newStreamConn(s, conn)
			if s.closed.Load() {
				d.conn.retire()
			} else {
				s.conns = append(s.conns, d.conn)
			}
		}
		s.mu.Unlock()
		close(d.done)
	})
}

// single makes a connection for one question, which is how questions are answered after close.
func (s *streams) single(ctx context.Context, x *exchange) (*streamConn, error) {
	conn, err := s.dial(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = ofContext(ctx)
		}
		return nil, err
	}
	c := newStreamConn(s, conn)
	c.add(x)
	c.retire()
	s.misses.Inc()
	return c, nil
}

// remove takes c out of those that get questions.
func (s *streams) remove(c *streamConn) {
	s.mu.Lock()
	s.removeLocked(c)
	s.mu.Unlock()
}

func (s *streams) removeLocked(c *streamConn) {
	s.conns = slices.DeleteFunc(s.conns, func(other *streamConn) bool { return other == c })
}

// tooManyIdle tells whether more connections are idle than the configuration wants.
func (s *streams) tooManyIdle() bool {
	if s.cfg.Expire <= 0 {
		return true
	}
	if s.cfg.MaxIdleConns <= 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := 0
	for _, c := range s.conns {
		if c.inFlight.Load() == 0 {
			idle++
		}
	}
	return idle > s.cfg.MaxIdleConns
}

// close implements carrier.
func (s *streams) close() {
	s.mu.Lock()
	s.closed.Store(true)
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	s.stopDials()
	s.dialing.Wait()
	for _, c := range conns {
		if c.retire() {
			c.conn.Close() // before the writer does, which may be at a write that takes long
			c.running.Wait()
		}
	}
}
