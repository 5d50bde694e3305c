package forward

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync/atomic"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/dnstap"
	"github.com/trident-dns/trident/internal/ede"
	"github.com/trident-dns/trident/internal/shared"

	"github.com/miekg/dns"
)

// Forward answers the questions of one forward block from its upstreams, and hands all others to the next plugin, which
// may be the next forward block.
type Forward struct {
	// Next is set before the first question.
	Next plugin.Handler

	block     *block
	territory territory
	roster    *roster // set by start
	taps      []*dnstap.Dnstap
	budget    *budget // of copies
	hedges    bool
	inFlight  atomic.Int64 // counted only when there is a limit
	errLimit  error
	flights   flights
}

func newForward(b *block) *Forward {
	return &Forward{
		block:     b,
		territory: newTerritory(b.zones, b.except),
		budget:    newBudget(b.hedge.share),
		hedges:    b.hedge.applies(b.policy),
		errLimit:  &limitError{fmt.Sprintf("concurrent queries exceeded maximum %d", b.maxConcurrent)},
		flights:   flights{seed: maphash.MakeSeed()},
	}
}

// start acquires the upstreams on behalf of owner, which gives them back.
func (f *Forward) start(owner *shared.Owner) (err error) {
	f.roster, err = rosters.Acquire(owner, rosterKey(f.block), func() (*roster, error) { return openRoster(f.block) })
	return err
}

// Name implements plugin.Handler.
func (f *Forward) Name() string { return pluginName }

// ServeDNS implements plugin.Handler.
func (f *Forward) ServeDNS(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	p := newPursuit(f, w, r)
	defer p.release()
	if !f.territory.contains(p.state.Name()) {
		return plugin.NextOrFailure(f.Name(), f.Next, ctx, w, r)
	}
	if rcode, refused := refusal(r); refused {
		return rcode, nil
	}
	if f.block.maxConcurrent > 0 {
		defer f.inFlight.Add(-1)
		if f.inFlight.Add(1) > f.block.maxConcurrent {
			maxConcurrentRejectCount.Inc()
			return f.fail(ctx, w, r, f.errLimit)
		}
	}
	reply, err := f.ask(ctx, p)
	if err != nil {
		return f.fail(ctx, w, r, err)
	}
	if _, chained := f.Next.(*Forward); chained && f.block.rules.passesOn(reply) {
		return plugin.NextOrFailure(f.Name(), f.Next, ctx, w, r)
	}
	return deliverReply(w, reply)
}

// fail tells the client that there is no reply, and why, unless the client has gone.
func (f *Forward) fail(ctx context.Context, w dns.ResponseWriter, r *dns.Msg, err error) (int, error) {
	rcode := failure(err)
	if ctx.Err() != nil || rcode != dns.RcodeServerFailure && rcode != dns.RcodeRefused {
		return rcode, err
	}
	code, text := reason(err)
	return ede.Fail(w, r, rcode, code, text, err)
}

// deliverReply writes reply to the client. One that cannot be packed has not reached anybody yet, so the client can
// still be told.
func deliverReply(w dns.ResponseWriter, reply *dns.Msg) (int, error) {
	err := w.WriteMsg(reply)
	if err != nil && isPacking(err) {
		return dns.RcodeServerFailure, fmt.Errorf("reply cannot be packed: %w", err)
	}
	return dns.RcodeSuccess, nil
}

// isPacking tells errors of packing a message from those of a connection.
func isPacking(err error) bool {
	var packing *dns.Error
	return errors.As(err, &packing)
}
