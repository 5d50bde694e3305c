package etcd

import (
	"fmt"

	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/plugin/backend"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/etcd/embedhook"
	"github.com/trident-dns/trident/etcd/mirror"
)

// servers are the etcds inside the process, by their directories.
var servers shared.Pool[embedhook.Server]

// start acquires what the block needs until owner ends. It does not wait for etcd.
func (e *Etcd) start(owner *shared.Owner, cfg *config) error {
	endpoints := cfg.etcdEndpoints()
	if cfg.embed != nil {
		server, err := servers.Acquire(owner, cfg.embed.Dir, func() (embedhook.Server, error) {
			return embedhook.Start(*cfg.embed)
		})
		if err != nil {
			return fmt.Errorf("embed %s: %w", cfg.embed.Dir, err)
		}
		endpoints = []string{server.Endpoint()}
	}
	mc := cfg.mirrorConfig(endpoints)
	// Acquired before the sources and so given back after them.
	m, err := mirrors.Acquire(owner, mc.Key(), func() (*mirror.Mirror, error) { return mirror.Open(mc) })
	if err != nil {
		return fmt.Errorf("endpoint %v: %w", endpoints, err)
	}
	e.resolver.RecordTTL = cfg.leases.recordTTL(m.Leases().TTL)
	for _, z := range e.zones {
		top := e.zones.top(z.Name)
		key := fmt.Sprintf("%s %q %s", mc.Key(), cfg.prefix, top.Name)
		z.source, err = sources.Acquire(owner, key, func() (*source, error) {
			return openSource(m, cfg.prefix, top), nil
		})
		if err != nil {
			return err
		}
		z.source.index.Track(z.Path)
	}
	e.started.Store(true)
	return nil
}

// top returns the zone closest to the root that holds name: its keys are those of all zones below it.
func (z zones) top(name string) *backend.Zone {
	if s, ok := z["."]; ok {
		return s.Zone
	}
	var top *backend.Zone
	for offset, end := 0, false; !end; offset, end = dns.NextLabel(name, offset) {
		if s, ok := z[name[offset:]]; ok {
			top = s.Zone
		}
	}
	return top
}
