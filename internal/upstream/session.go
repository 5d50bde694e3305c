package upstream

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// session is a connection whose protocol keeps the questions on it apart.
type session interface {
	// exchange sends x.query and leaves the message that came back in x.reply. An error that wraps ErrClosed says that the
	// session is over. Safe for concurrent use.
	exchange(ctx context.Context, x *exchange) error
	// over tells whether the session has ended by itself.
	over() bool
	localAddr() net.Addr
	// shut ends the session, whatever is under way, and returns when that is done.
	shut()
}

// sessionConn makes a session a member of a pool: it has an age, may be idle for so long, and is not trusted any more
// when a question timed out and nothing else came.
type sessionConn struct {
	session
	pool    *pool[*sessionConn]
	created time.Time
	until   time.Time // the end of its age
	asking  atomic.Int32
	replies atomic.Int64

	mu      sync.Mutex // guards the following
	retired bool
	shutBy  sync.Once
	expire  *time.Timer // runs while nobody asks
	heard   time.Time
}

func newSessionConn(p *pool[*sessionConn], s session) *sessionConn {
	now := time.Now()
	c := &sessionConn{session: s, pool: p, created: now, until: now.Add(lifetime(p.cfg))}
	c.expire = time.AfterFunc(max(jitter(p.cfg.Expire), dialTimeout), c.unused)
	return c
}

func (c *sessionConn) busy() int       { return int(c.asking.Load()) }
func (c *sessionConn) served() bool    { return c.replies.Load() > 0 }
func (c *sessionConn) born() time.Time { return c.created }
func (c *sessionConn) aged() bool      { return time.Now().After(c.until) }

func (c *sessionConn) join(x *exchange) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired || c.over() {
		return false
	}
	c.expire.Stop()
	c.asking.Add(1)
	x.sent, x.local = now, c.localAddr()
	return true
}

func (c *sessionConn) ask(ctx context.Context, x *exchange) error {
	bounded, cancel := context.WithTimeout(ctx, c.pool.cfg.readTimeout())
	defer cancel()
	stop := x.tellMeanwhile()
	err := c.exchange(bounded, x)
	stop()
	x.received = time.Now()
	switch {
	case err != nil && ctx.Err() != nil:
		err = ofContext(ctx)
	case err != nil && bounded.Err() != nil:
		err = ErrTimeout
	case err != nil:
	case len(x.reply) < headerSize:
		err = malformed("%d bytes", len(x.reply))
	case !matches(x.query, x.qend, x.reply):
		err = ErrMismatch
	}
	c.leave(x, err)
	return err
}

// leave is the end of ask.
func (c *sessionConn) leave(x *exchange, err error) {
	c.mu.Lock()
	if err == nil {
		c.heard = x.received
		c.replies.Add(1)
	}
	lost := errors.Is(err, ErrClosed) || errors.Is(err, ErrTimeout) && !c.heard.After(x.sent)
	idle := c.asking.Add(-1) == 0
	if idle && !c.retired {
		c.expire.Reset(min(jitter(c.pool.cfg.Expire), max(time.Until(c.until), 0)))
	}
	last := idle && c.retired
	c.mu.Unlock()
	switch {
	case last:
		c.shutOnce()
	case lost, idle && c.pool.tooManyIdle():
		c.pool.remove(c)
		c.retire()
	}
}

// unused runs when nobody has asked for as long as the session may be idle.
func (c *sessionConn) unused() {
	c.pool.remove(c)
	c.retire()
}

func (c *sessionConn) retire() {
	c.mu.Lock()
	c.retired = true
	c.expire.Stop()
	idle := c.asking.Load() == 0
	c.mu.Unlock()
	if idle {
		c.shutOnce()
	}
}

// end implements member: shutting waits.
func (c *sessionConn) end() { c.retire() }

func (c *sessionConn) shutOnce() { c.shutBy.Do(c.shut) }
