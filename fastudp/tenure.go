package fastudp

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"

	"github.com/miekg/dns"
)

// tenure is one configuration's hold on one address. A front has one in force at a time, and hands its sockets from
// the one of the old configuration to that of the new one in the middle of the traffic.
type tenure struct {
	conf    *configuration
	address string // as dnsserver.Server has it: dns://, host and port
	limit   int    // questions in progress, all lanes together

	// hook is the UDPDecorateWriterFunc that ours has taken the place of, that of shed say; nil when there is none.
	hook func(*dnsserver.Server) dns.DecorateWriter

	settled chan struct{} // closed when the tenure has come into force, or has found that it never will

	mu    sync.Mutex
	ended bool   // no longer to come into force
	front *front // nil until the tenure has come into force

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

// begin brings the tenure into force for the listener srv, which starts to serve. CoreDNS may start several on one
// address (multisocket); they are alike, and the first one speaks for all.
func (t *tenure) begin(srv *dnsserver.Server, decorate dns.DecorateWriter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.server != nil {
		return
	}
	defer close(t.settled)
	t.prepare(srv, decorate)
	bind, err := t.bindAddress()
	if err != nil {
		log.Warningf("%s: CoreDNS's own listener serves: %v", t.address, err)
		return
	}
	f, err := fronts.Acquire(t.conf.owner, bind, func() (*front, error) { return newFront(t.address, bind), nil })
	if err != nil {
		return // the configuration has been thrown away without its shutdown callbacks
	}
	t.front = f
	f.take(t)
}

// prepare readies the tenure to answer what srv is asked.
func (t *tenure) prepare(srv *dnsserver.Server, decorate dns.DecorateWriter) {
	t.server, t.decorate = srv, decorate
	t.ctx = context.WithValue(context.WithValue(context.Background(), dnsserver.Key{}, srv), dnsserver.LoopKey{}, 0)
	t.opcodes = allowedOpcodes(srv)
	t.secrets = srv.TsigSecret
	t.active = make([]padded, maxLanes)
}

// end ends the tenure: it waits until that of the next configuration has taken over and t's questions are answered, or,
// when none does, closes the sockets. The instances are those that caddy knows.
func (t *tenure) end(deadline time.Time, instances []*caddy.Instance) {
	t.mu.Lock()
	t.ended = true
	f := t.front
	t.mu.Unlock()
	if f == nil {
		return
	}
	if heir := t.heir(instances); heir != nil {
		timer := time.NewTimer(takeOverTime)
		defer timer.Stop()
		select {
		case <-heir.settled:
		case <-timer.C:
		}
	}
	if f.current.Load() == t {
		f.retire(deadline, func(a *net.UDPAddr) bool {
			return slices.ContainsFunc(instances, func(inst *caddy.Instance) bool { return listeners(inst, a) > 0 })
		})
		return
	}
	t.waitIdle(deadline)
}

// heir is the tenure of the newest other configuration that holds the address, nil when there is none.
func (t *tenure) heir(instances []*caddy.Instance) *tenure {
	for _, inst := range slices.Backward(instances) {
		inst.StorageMu.RLock()
		conf, _ := inst.Storage[configurationKey{}].(*configuration)
		inst.StorageMu.RUnlock()
		if conf == nil || conf == t.conf {
			continue
		}
		if heir := conf.tenures[t.address]; heir != nil {
			return heir
		}
	}
	return nil
}

// waitIdle waits until no question is being answered under a tenure that is no longer in force, at most until the
// deadline.
func (t *tenure) waitIdle(deadline time.Time) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		n := int64(0)
		for i := range t.active {
			n += t.active[i].n.Load()
		}
		if n == 0 {
			return
		}
		if now := <-tick.C; now.After(deadline) {
			log.Warningf("%s: %d questions of the old configuration are still in progress after %s", t.address, n, grace)
			return
		}
	}
}
