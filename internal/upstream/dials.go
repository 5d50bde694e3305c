package upstream

import (
	"context"
	"slices"
	"time"
)

// dial is a connection in the making, and who waits for it.
type dial[C member] struct {
	waiting int           // guarded by the lock of the pool
	done    chan struct{} // closed when conn or err is there
	conn    C
	err     error
}

// wait waits for the end of d, and reports false when that of ctx came first.
func (d *dial[C]) wait(ctx context.Context, x *exchange) bool {
	for {
		var late <-chan time.Time // never, if nobody wants to know
		if !x.lateAt.IsZero() {
			x.timer.Reset(max(time.Until(x.lateAt), 0))
			late = x.timer.C
		}
		select {
		case <-d.done:
			return true
		case <-ctx.Done():
			return false
		case <-x.alarmed:
			x.tellSilent()
		case now := <-late:
			x.tellSlow(now)
		}
	}
}

// await returns a connection in the making to wait for. The lock is held.
func (p *pool[C]) await() *dial[C] {
	if len(p.dials) == 0 || p.load().wantsMore() {
		p.dial()
	}
	d := slices.MinFunc(p.dials, func(a, b *dial[C]) int { return a.waiting - b.waiting })
	d.waiting++
	return d
}

// load is called with the lock held.
func (p *pool[C]) load() load {
	l := load{
		conns:   len(p.conns),
		dials:   len(p.dials),
		least:   1 << 30,
		anyTurn: p.anyTurn.Load(),
		latency: p.latency.mean(),
		fastest: time.Duration(p.latency.fastest.Load()),
		quota:   int(p.quota.Load()),
	}
	for _, c := range p.conns {
		l.least = min(l.least, c.busy())
	}
	for _, d := range p.dials {
		l.least = min(l.least, d.waiting)
	}
	return l
}

// dial starts to make a connection. The lock is held.
func (p *pool[C]) dial() {
	d := &dial[C]{done: make(chan struct{})}
	p.dials = append(p.dials, d)
	p.dialing.Go(func() {
		defer close(d.done)
		d.conn, d.err = p.connect(p.dialCtx)
		p.mu.Lock()
		p.dials = slices.DeleteFunc(p.dials, func(other *dial[C]) bool { return other == d })
		late := d.err == nil && p.closed.Load()
		var old []C
		if d.err == nil && !late {
			old = p.replaceAged(d.conn)
		}
		p.mu.Unlock()
		for _, c := range old {
			c.retire()
		}
		if late {
			d.conn.end()
		}
	})
}

// replaceAged puts c in the place of those that are too old, and returns them. The lock is held.
func (p *pool[C]) replaceAged(c C) (old []C) {
	p.conns = slices.DeleteFunc(p.conns, func(other C) bool {
		aged := other.aged()
		if aged {
			old = append(old, other)
		}
		return aged
	})
	p.conns = append(p.conns, c)
	return old
}
