package forward

import (
	"net"
	"net/netip"
	"sync/atomic"

	"github.com/coredns/coredns/plugin/metadata"
	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/internal/upstream"
)

// resolvers are the upstreams of all blocks of all configurations, by what they are and how they are asked. Their
// connections and what is known of their health outlive a reload that leaves them as they are.
var resolvers shared.Pool[*upstream.Resolver]

// lineup is the upstreams of a block at one moment. It never changes.
type lineup struct {
	members []*member
	owner   *shared.Owner // holds the resolvers of members
}

// member is one upstream, with what the handler would otherwise make anew for every question.
type member struct {
	*upstream.Resolver
	steadiness
	asked atomic.Int64 // when it last got a question, as far as exploration wants to know
	name  metadata.Func
	udp   *net.UDPAddr
	tcp   *net.TCPAddr
}

func newMember(r *upstream.Resolver, addr netip.AddrPort) *member {
	name := r.Addr()
	return &member{
		Resolver: r,
		name:     func() string { return name },
		udp:      net.UDPAddrFromAddrPort(addr),
		tcp:      net.TCPAddrFromAddrPort(addr),
	}
}

func (m *member) cost() float64 { return expense(m.Latency(), m.InFlight()) }

// addresses says where a host name is now.
type addresses func(host string) []netip.Addr

// newLineup acquires the upstreams that to stands for under the settings of b, in their order, each once. left tells how
// many were left out for being too many.
func newLineup(b *block, to []endpoint, find addresses) (l *lineup, left int, err error) {
	l = &lineup{owner: shared.New()}
	seen := make(map[string]bool)
	for _, e := range to {
		addrs := []netip.Addr{e.addr}
		if e.host != "" {
			addrs = find(e.host)
		}
		for _, addr := range addrs {
			at := netip.AddrPortFrom(addr, e.port)
			config := b.config(e, at)
			key := config.Key()
			if seen[key] {
				continue
			}
			seen[key] = true
			if len(l.members) == maxUpstreams {
				left++
				continue
			}
			r, err := resolvers.Acquire(l.owner, key, func() (*upstream.Resolver, error) { return upstream.Open(config) })
			if err != nil {
				l.owner.Release()
				return nil, 0, err
			}
			l.members = append(l.members, newMember(r, at))
		}
	}
	return l, left, nil
}
