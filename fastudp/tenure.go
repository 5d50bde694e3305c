package fastudp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/coredns/coredns/core/dnsserver"

	"github.com/miekg/dns"
)

// tenure is one configuration's hold on one address. A front has one in force at a time, and hands its sockets from
// the one of the old configuration to that of the new one in the middle of the traffic.
type tenure struct {
	conf    *configuration
	front   *front
	address string // as dnsserver.Server has it: dns://, host and port
	limit   int    // questions in progress, all lanes together

	// hook is the UDPDecorateWriterFunc that ours has taken the place of, that of shed say; nil when there is none.
	hook func(*dnsserver.Server) dns.DecorateWriter

	settled chan struct{} // closed when the tenure has come into force, or has found that it never will
	ended   bool          // no longer to come into force. Guarded by front.mu.

	// The following are set once, before the tenure comes into force.
	server   *dnsserver.Server
	ctx      context.Context // what CoreDNS gives to every question of a listener
	decorate dns.DecorateWriter
	opcodes  map[int]struct{} // allowed beside QUERY and NOTIFY
	secrets  secrets
	active   []padded // questions being answered, by lane
}

// padded keeps the counts of lanes on cache lines of their own.
type padded struct {
	n atomic.Int64
	_ [56]byte
}

// prepare readies the tenure for n lanes that serve srv. CoreDNS may start several servers on one address
// (multisocket); they are alike, and the first one speaks for all.
func (t *tenure) prepare(srv *dnsserver.Server, decorate dns.DecorateWriter, n int) {
	t.server, t.decorate = srv, decorate
	t.ctx = context.WithValue(context.WithValue(context.Background(), dnsserver.Key{}, srv), dnsserver.LoopKey{}, 0)
	t.opcodes = allowedOpcodes(srv)
	t.secrets = srv.TsigSecret
	t.active = make([]padded, n)
}

// waitIdle waits until no question is being answered under a tenure that is no longer in force.
func (t *tenure) waitIdle(deadline time.Time) (idle bool) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		n := int64(0)
		for i := range t.active {
			n += t.active[i].n.Load()
		}
		if n == 0 {
			return true
		}
		if now := <-tick.C; now.After(deadline) {
			return false
		}
	}
}
