package fastudp

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin/pkg/transport"
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

// start lays hold of the addresses that the blocks listen on. It runs in OnStartup, on caddy's goroutine, when the
// servers have been made and before they listen.
func (conf *configuration) start() error {
	if conf.inst = conf.instance(); conf.inst == nil {
		return nil // nothing will be served
	}
	tenures, err := plan(conf.blocks)
	if err != nil {
		return err
	}
	alive := living()
	for _, t := range tenures {
		t.conf = conf
		f, err := fronts.Acquire(conf.owner, t.address, func() (*front, error) { return newFront(t.address), nil })
		if err != nil {
			return err
		}
		t.front = f
		f.announce(t, alive)
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

// living tells configurations that caddy knows from those whose start has failed. Like all that reads caddy's list of
// instances it must be called on caddy's goroutine.
func living() func(*configuration) bool {
	instances := slices.Clone(caddy.Instances())
	return func(conf *configuration) bool { return slices.Contains(instances, conf.inst) }
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
	t.front.take(t, srv, decorate)
	return decorate
}

// end runs first of all when the configuration ends: on a reload after the new one has begun to serve, else while
// CoreDNS's own listener still does. It never fails: caddy would take that for a failed reload.
func (conf *configuration) end() error {
	alive := living()
	instances := slices.Clone(caddy.Instances())
	own := func(a *net.UDPAddr) bool {
		return slices.ContainsFunc(instances, func(inst *caddy.Instance) bool { return listeners(inst, a) > 0 })
	}
	deadline := time.Now().Add(grace)
	var ending sync.WaitGroup
	for _, t := range conf.tenures {
		ending.Go(func() { t.front.end(t, deadline, alive, own) })
	}
	ending.Wait()
	return nil
}

// listeners counts the UDP sockets of an instance that are bound to a.
func listeners(inst *caddy.Instance, a *net.UDPAddr) int {
	n := 0
	for _, s := range inst.Servers() {
		if local := s.LocalAddr(); local != nil && local.String() == a.String() {
			n++
		}
	}
	return n
}

// bindAddress is the host and port that sockets of the tenure's address are opened on. It is what CoreDNS opened its
// own on, but for port 0, where it is what the kernel then gave.
func (t *tenure) bindAddress() (string, error) {
	addr := strings.TrimPrefix(t.address, transport.DNS+"://")
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port != "0" {
		return addr, err
	}
	var found []string
	for _, s := range t.conf.inst.Servers() {
		local, ok := s.LocalAddr().(*net.UDPAddr)
		if !ok {
			continue
		}
		if ip := net.ParseIP(host); host == "" && local.IP.IsUnspecified() || ip != nil && ip.Equal(local.IP) {
			found = append(found, local.String())
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("port 0 is one of %d sockets on %q: only one can be told apart", len(found), host)
	}
	return found[0], nil
}
