package fastudp

import (
	"slices"
	"sync"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/trident-dns/trident/internal/shared"

	"github.com/miekg/dns"
)

// fronts holds the sockets by address, for all configurations.
var fronts shared.Pool[*front]

// configuration is what one caddy instance, old or new, has of fastudp: one for all its blocks.
type configuration struct {
	owner  *shared.Owner
	blocks []*block

	// The following are set by start and not changed any more.
	inst    *caddy.Instance
	tenures map[string]*tenure // by address
}

// configurationKey finds the configuration of an instance in its storage.
type configurationKey struct{}

// configurationOf returns the configuration that c belongs to, for each of its blocks the same.
func configurationOf(c *caddy.Controller) *configuration {
	if conf, ok := c.Get(configurationKey{}).(*configuration); ok {
		return conf
	}
	conf := &configuration{owner: shared.Of(c), tenures: make(map[string]*tenure)}
	c.Set(configurationKey{}, conf)
	c.OnStartup(conf.start)
	return conf
}

// start plans the addresses that the blocks listen on. It runs in OnStartup, on caddy's goroutine, when the servers
// have been made and before they listen.
func (conf *configuration) start() error {
	if conf.inst = conf.instance(); conf.inst == nil {
		return nil // nothing will be served
	}
	tenures, err := plan(conf.blocks)
	if err != nil {
		return err
	}
	for _, t := range tenures {
		t.conf = conf
		conf.tenures[t.address] = t
	}
	// Before the end of any other plugin: questions in progress must find them all at work.
	conf.inst.OnShutdown = slices.Insert(conf.inst.OnShutdown, 0, conf.end)
	return nil
}

// instance finds the caddy instance that the configuration belongs to.
func (conf *configuration) instance() *caddy.Instance {
	for _, inst := range caddy.Instances() {
		inst.StorageMu.RLock()
		other := inst.Storage[configurationKey{}]
		inst.StorageMu.RUnlock()
		if other == conf {
			return inst
		}
	}
	return nil
}

// takeOver is the UDPDecorateWriterFunc of our blocks: CoreDNS calls it when the listener srv is about to read. What it
// returns decorates the writers of CoreDNS's own socket; ours decorate theirs with the same.
func (conf *configuration) takeOver(srv *dnsserver.Server) dns.DecorateWriter {
	t, ok := conf.tenures[srv.Address()]
	if !ok {
		return nil
	}
	var decorate dns.DecorateWriter
	if t.hook != nil {
		decorate = t.hook(srv)
	}
	t.begin(srv, decorate)
	return decorate
}

// end runs first of all when the configuration ends: on a reload after the new one has begun to serve, else while
// CoreDNS's own listener still does. It never fails: caddy would take that for a failed reload.
func (conf *configuration) end() error {
	instances := slices.Clone(caddy.Instances()) // on caddy's goroutine, which alone changes the list
	deadline := time.Now().Add(grace)
	var ending sync.WaitGroup
	for _, t := range conf.tenures {
		ending.Go(func() { t.end(deadline, instances) })
	}
	ending.Wait()
	return nil
}
