package relay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// Budget is the time for one question, all attempts included. Whoever asked gives up about then.
const Budget = 5 * time.Second

// passes is how often each server may fail one question.
const passes = 2

// ErrNoServer is the error of a group without servers. Every other one of Exchange wraps one of internal/upstream.
var ErrNoServer = errors.New("no name server")

// resolvers are the servers of all groups.
var resolvers shared.Pool[*upstream.Resolver]

// Group is a set of name servers. It does not change, and may be used from any goroutine.
type Group struct{ members []*upstream.Resolver }

// Open returns a group of the servers at addrs, held until owner ends; after that it goes on answering, with a new
// connection for each question. It dials nothing. name is the proxy_name label of their metrics.
func Open(owner *shared.Owner, name string, addrs []netip.AddrPort) (*Group, error) {
	g := &Group{}
	for _, addr := range addrs {
		c := upstream.Config{
			Name: name, Addr: addr,
			Expire: upstream.DefaultExpire, MaxFails: upstream.DefaultMaxFails,
			Probe: upstream.Probe{Interval: upstream.DefaultProbeInterval, Domain: "."},
		}
		r, err := resolvers.Acquire(owner, c.Key(), func() (*upstream.Resolver, error) { return upstream.Open(c) })
		if err != nil {
			return nil, err
		}
		g.members = append(g.members, r)
	}
	return g, nil
}

// Exchange asks the servers until one has a good reply, and otherwise returns the last bad one, or the last error.
func (g *Group) Exchange(ctx context.Context, q upstream.Question) (*dns.Msg, error) {
	deadline := time.Now().Add(Budget)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	order := g.order()
	attempts := slices.Repeat(order, passes)
	var bad *dns.Msg
	err := ErrNoServer
	for i, r := range attempts {
		if bad != nil && i == len(order) {
			break // everybody was asked
		}
		m, failure := ask(ctx, r, q, share(time.Now(), deadline, len(attempts)-i))
		switch {
		case failure == nil && isGood(m):
			return m, nil
		case failure == nil:
			bad = m
		default:
			err = fmt.Errorf("%s: %w", r.Addr(), failure)
		}
		if ctx.Err() != nil || isHopeless(failure) {
			break
		}
	}
	if bad != nil {
		return bad, nil
	}
	return nil, err
}

// isHopeless tells whether the question is what keeps it from being answered.
func isHopeless(err error) bool {
	return errors.Is(err, upstream.ErrRequest) || errors.Is(err, upstream.ErrUnsupported)
}

// ask asks one server once, and has it probed when it may be to blame for a failure.
func ask(ctx context.Context, r *upstream.Resolver, q upstream.Question, until time.Time) (*dns.Msg, error) {
	bounded, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	a, err := r.Exchange(bounded, q)
	if err == nil {
		return a.Msg, nil
	}
	if !isHopeless(err) && !errors.Is(err, upstream.ErrCanceled) {
		r.Failed()
	}
	return nil, err
}

// isGood tells whether no other server needs to be asked. One that does not serve the zone says REFUSED or SERVFAIL.
func isGood(m *dns.Msg) bool {
	return m.Rcode != dns.RcodeServerFailure && m.Rcode != dns.RcodeRefused
}

// order returns the servers in the order in which they are asked: in turns from one that chance picks, and those that
// are down after all others.
func (g *Group) order() []*upstream.Resolver {
	n := len(g.members)
	if n == 0 {
		return nil
	}
	first := rand.IntN(n)
	order := make([]*upstream.Resolver, 0, n)
	var down []*upstream.Resolver
	for i := range n {
		if r := g.members[(first+i)%n]; r.Down() {
			down = append(down, r)
		} else {
			order = append(order, r)
		}
	}
	return append(order, down...)
}

// minShare is the least time of an attempt, as long as there is that much left.
const minShare = time.Second

// share is when an attempt that begins now ends, with so many left that may be made, itself among them.
func share(now, deadline time.Time, left int) time.Time {
	part := max(deadline.Sub(now)/time.Duration(max(left, 1)), minShare)
	if until := now.Add(part); until.Before(deadline) {
		return until
	}
	return deadline
}
