package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// maxRedials is how often a question moves on from a connection that died under it.
const maxRedials = 3

// member is a connection that many questions share. A pool calls its methods at the same time.
type member interface {
	comparable
	// join takes x, whose query then waits to be sent. False: the connection takes no more questions, for good.
	join(x *exchange) bool
	// ask waits for the reply to x, which has joined. Afterwards x is nowhere any more.
	ask(ctx context.Context, x *exchange) error
	// busy is how many questions have joined and not been answered; served is whether any was.
	busy() int
	served() bool
	born() time.Time
	// aged tells whether the connection should be replaced. It works until it is.
	aged() bool
	// retire lets nobody join any more, and ends the connection when nobody is left.
	retire()
	// end is retire, and waits for the end unless somebody is left.
	end()
}

// pool is a carrier that makes do with a few connections.
type pool[C member] struct {
	cfg   Config
	how   packing
	proto string // "udp" or "tcp", below of what the connections are
	// connect makes a connection, within dialTimeout. Its errors wrap a sentinel.
	connect func(ctx context.Context) (C, error)

	hits, misses prometheus.Counter
	latency      latency
	// anyTurn: the peer works on questions side by side, as is known or was seen.
	anyTurn atomic.Bool
	// quota is how many questions the peer answers on one connection before it closes it, as far as is known.
	quota atomic.Int64
	// closed is set under mu, and read without by those who need not be exact.
	closed atomic.Bool

	dialCtx   context.Context // ends with the pool
	stopDials context.CancelFunc
	dialing   sync.WaitGroup

	mu    sync.Mutex // guards the following; held for look-ups only
	conns []C        // those that take questions, oldest first
	dials []*dial[C]
}

// A connection without a configured limit is replaced after a random time all the same: behind the one address of a
// resolver there may be many machines, and those that have come later should get their share.
const minAge, maxAge = 3 * time.Minute, 6 * time.Minute

// lifetime draws how old a connection may get.
func lifetime(c Config) time.Duration {
	if c.MaxAge > 0 {
		return jitter(c.MaxAge)
	}
	return minAge + rand.N(maxAge-minAge)
}

// newPool returns a pool without connect, which the caller sets. label is the proto label of its metrics.
func newPool[C member](c Config, m *meters, label, proto string, how packing) *pool[C] {
	p := &pool[C]{cfg: c, how: how, proto: proto}
	p.hits, p.misses = m.cache(label)
	p.quota.Store(noQuota)
	p.dialCtx, p.stopDials = context.WithCancel(context.Background())
	return p
}

// limits implements carrier.
func (p *pool[C]) limits() packing { return p.how }

// carry implements carrier. A connection that dies after it had worked costs a new one, not the attempt.
func (p *pool[C]) carry(ctx context.Context, x *exchange) error {
	x.proto = p.proto
	var since time.Time // only connections made after the last one died
	for try := 0; ; try++ {
		c, reused, err := p.enlist(ctx, x, since)
		if err != nil {
			return err
		}
		if err = c.ask(ctx, x); err == nil {
			p.latency.add(x.received.Sub(x.sent))
			return nil
		}
		if !reused && !c.served() || !errors.Is(err, ErrClosed) || try == maxRedials {
			return err
		}
		since = time.Now()
		x.reset()
	}
}

// enlist has x join a connection that was made after since, waiting for one if need be. reused says that the
// connection was not made for x.
func (p *pool[C]) enlist(ctx context.Context, x *exchange, since time.Time) (c C, reused bool, err error) {
	var none C
	for {
		p.mu.Lock()
		if p.closed.Load() {
			p.mu.Unlock()
			c, err = p.single(ctx, x)
			return c, false, err
		}
		if c = p.join(x, since); c != none {
			p.mu.Unlock()
			p.hits.Inc()
			return c, true, nil
		}
		d := p.await()
		p.mu.Unlock()

		if !d.wait(ctx, x) {
			p.misses.Inc()
			return none, false, ofContext(ctx)
		}
		switch {
		case d.err == nil:
			if d.conn.join(x) {
				p.misses.Inc()
				return d.conn, false, nil
			}
			// Others have used it up.
		case p.dialCtx.Err() == nil:
			p.misses.Inc()
			return none, false, d.err
		}
	}
}

// join has x join the best of the connections made after since, and returns it; it weeds out those that take no more
// questions, and sees to it that there are enough. The lock is held.
func (p *pool[C]) join(x *exchange, since time.Time) C {
	var none C
	for c := p.best(since); c != none; c = p.best(since) {
		if c.join(x) {
			if p.load().wantsMore() || c.aged() && len(p.dials) == 0 {
				p.dial()
			}
			return c
		}
		p.forget(c)
		c.retire()
	}
	return none
}

// single makes a connection for one question, which is how questions are answered after close.
func (p *pool[C]) single(ctx context.Context, x *exchange) (C, error) {
	p.misses.Inc()
	c, err := p.connect(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = ofContext(ctx)
		}
		return c, err
	}
	if !c.join(x) {
		err = ErrClosed
	}
	c.retire()
	return c, err
}

// best returns the connection with the fewest questions, the oldest one among equals so that the others become idle.
// The lock is held.
func (p *pool[C]) best(since time.Time) (best C) {
	var none C
	for _, c := range p.conns {
		if c.born().After(since) && (best == none || c.busy() < best.busy()) {
			best = c
		}
	}
	return best
}

// remove takes c out of those that get questions.
func (p *pool[C]) remove(c C) {
	p.mu.Lock()
	p.forget(c)
	p.mu.Unlock()
}

// forget is remove with the lock held.
func (p *pool[C]) forget(c C) {
	p.conns = slices.DeleteFunc(p.conns, func(other C) bool { return other == c })
}

// tooManyIdle tells whether more connections are idle than the configuration wants.
func (p *pool[C]) tooManyIdle() bool {
	if p.cfg.Expire <= 0 {
		return true
	}
	if p.cfg.MaxIdleConns <= 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := 0
	for _, c := range p.conns {
		if c.busy() == 0 {
			idle++
		}
	}
	return idle > p.cfg.MaxIdleConns
}

// close implements carrier.
func (p *pool[C]) close() {
	p.mu.Lock()
	p.closed.Store(true)
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	p.stopDials()
	p.dialing.Wait()
	for _, c := range conns {
		c.end()
	}
}
