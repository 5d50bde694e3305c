package etcd

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin/metadata"
	"github.com/coredns/coredns/request"

	"github.com/trident-dns/trident/plugin/backend"

	"github.com/miekg/dns"
)

const (
	// outsideTimeout bounds the lookup of names outside of the zones. Whoever asked gives up about then.
	outsideTimeout = 5 * time.Second
	// maxReentries is how often one question may come back to the server by way of names outside of its zones: a chain
	// that alternates between two servers of the process is cut there.
	maxReentries = 8
	// maxOutside is how many lookups one question of a client may cause, those that its lookups cause when they come back
	// to the server among them: with maxReentries alone, each level would multiply. It is what the glue of one answer can
	// take, addresses of both families.
	maxOutside = 2 * backend.MaxOutside
)

// Errors of lookups that are not made.
var (
	errReentries = errors.New("chain comes back too often")
	errOutside   = errors.New("too many lookups for one question")
)

// spending is what a client's question has used so far, those questions included that it caused by coming back to the
// server.
type spending struct {
	lookups atomic.Int32
	steps   backend.Steps
}

// spendingKey is the key of the context value that carries the *spending of a client's question.
type spendingKey struct{}

func spendingOf(ctx context.Context) *spending {
	if s, ok := ctx.Value(spendingKey{}).(*spending); ok {
		return s
	}
	return new(spending)
}

// outside looks up names that no zone of the block holds: by asking the server, as if a client had.
func (e *Etcd) outside(
	spent *spending, state request.Request,
) func(context.Context, string, uint16) (*dns.Msg, error) {
	return func(ctx context.Context, name string, qtype uint16) (*dns.Msg, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		loop, _ := ctx.Value(dnsserver.LoopKey{}).(int)
		if loop >= maxReentries {
			return nil, errReentries
		}
		if spent.lookups.Add(1) > maxOutside {
			return nil, errOutside
		}
		ctx = context.WithValue(ctx, spendingKey{}, spent)
		ctx = context.WithValue(ctx, dnsserver.LoopKey{}, loop+1)
		// Lookups run side by side, and the metadata of a question is a map without a lock.
		ctx = metadata.ContextWithMetadata(ctx)
		// The time that is left to a question that came back ends this one too.
		ctx, cancel := context.WithTimeout(ctx, outsideTimeout)
		defer cancel()
		return e.upstream.Lookup(ctx, state, name, qtype)
	}
}
