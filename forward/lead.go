package forward

import (
	"context"
	"errors"
	"time"

	"github.com/coredns/coredns/plugin/metadata"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// ask brings the reply to the question of p: by asking, or by waiting for the reply to the same question of somebody
// else that is under way.
func (f *Forward) ask(ctx context.Context, p *pursuit) (*dns.Msg, error) {
	if !p.like.of(&p.state, p.proto) {
		return p.run(ctx)
	}
	p.shard = f.flights.shard(&p.like)
	if current, leads := p.shard.join(&p.like, p.own()); !leads {
		return p.follow(ctx, current)
	}
	return p.lead(ctx)
}

// lead asks on behalf of all who join p's flight.
func (p *pursuit) lead(ctx context.Context) (reply *dns.Msg, err error) {
	defer func() { // also when a plugin below panics: nobody is left waiting
		switch {
		case p.shard.land(&p.like, p.flight):
			p.landed(reply, err)
		case ctx.Done() != nil:
			p.flight = nil // orphan may still be about to look at it
		}
	}()
	if ctx.Done() != nil {
		return p.runFor(ctx)
	}
	return p.run(ctx)
}

// runFor is run for a client that can go away, while others may wait for the reply.
func (p *pursuit) runFor(ctx context.Context) (*dns.Msg, error) {
	own, shard, like := p.flight, p.shard, p.like // p is somebody else's by the time that the client has gone
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	shard.mu.Lock()
	own.cancel = cancel
	shard.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { shard.orphan(&like, own) })
	defer stop()
	return p.run(lasting)
}

// own returns the flight of p. It is used again and again until somebody has waited for it.
func (p *pursuit) own() *flight {
	if p.flight == nil {
		p.flight = new(flight)
	}
	return p.flight
}

// landed gives those who wait for p's flight what it has brought. reply is p's own: the client's chain of plugins is
// about to change it.
func (p *pursuit) landed(reply *dns.Msg, err error) {
	own := p.flight
	p.flight = nil
	switch {
	case reply != nil:
		own.reply, own.from = reply.Copy(), p.from
	case err != nil:
		own.err = err
	default:
		own.err = ErrAbandoned
	}
	close(own.landed)
}

// follow waits for current. When it brings nothing, the question is asked once more, by one of those who waited: what it
// failed from may be over, or have been the leader's alone.
func (p *pursuit) follow(ctx context.Context, current *flight) (*dns.Msg, error) {
	err := p.await(ctx, current)
	p.shard.leave(&p.like, current)
	if retries(ctx, err) {
		leads := false
		if current, leads = p.shard.join(&p.like, p.own()); leads {
			return p.lead(ctx)
		}
		err = p.await(ctx, current)
		p.shard.leave(&p.like, current)
	}
	if err != nil {
		return nil, err
	}
	sharedCount.Inc()
	if current.from != nil {
		metadata.SetValueFunc(ctx, "forward/upstream", current.from.name)
	}
	return copyFor(p.state.Req, current.reply), nil
}

// retries tells whether a question whose leader failed with err is worth another attempt.
func retries(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, ErrWaited) && !errors.Is(err, upstream.ErrRequest) &&
		!errors.Is(err, upstream.ErrUnsupported)
}

// await waits until current has landed, but no longer than p's own deadline.
func (p *pursuit) await(ctx context.Context, current *flight) error {
	timer := time.NewTimer(time.Until(p.deadline))
	defer timer.Stop()
	select {
	case <-current.landed:
		return current.err
	case <-timer.C:
		return ErrWaited
	case <-ctx.Done():
		return upstream.ErrCanceled
	}
}
