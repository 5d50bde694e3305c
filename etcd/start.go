package etcd

import (
	"fmt"
	"maps"
	"slices"

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
	d := openDisk(cfg.snapshot)
	defer d.close()
	var all []*source
	for _, z := range e.zones {
		top := e.zones.top(z.Name)
		z.source, err = sources.Acquire(owner, mc.Key()+" "+string(cfg.prefix)+" "+top.Name, func() (*source, error) {
			return openSource(m, cfg.prefix, top, d), nil
		})
		if err != nil {
			return err
		}
		z.source.index.Track(z.Path)
		if !slices.Contains(all, z.source) {
			all = append(all, z.source)
		}
	}
	if e.transfer != nil {
		if err := e.acquireTransfers(owner, mc.Key()+" "+string(cfg.prefix)); err != nil {
			return err
		}
	}
	if cfg.stubZones {
		if err := e.acquireStubs(owner, mc.Key()+" "+string(cfg.prefix)); err != nil {
			return err
		}
	}
	if cfg.fleet {
		f, err := fleets.Acquire(owner, mc.Key()+" "+string(cfg.prefix), func() (*fleet, error) {
			return openFleet(m, cfg.prefix, d), nil
		})
		if err != nil {
			return err
		}
		if err := e.follow(owner, f); err != nil {
			return err
		}
	}
	if cfg.snapshot != "" {
		key := fmt.Sprintf("%s %s %t %q", mc.Key(), cfg.prefix, cfg.fleet, slices.Sorted(maps.Keys(e.zones)))
		if err := acquireKeeper(owner, cfg, key, all, e.fleet); err != nil {
			return err
		}
	}
	e.started.Store(true)
	return nil
}

// acquireStubs follows the stub zones of the block. from tells where its keys are.
func (e *Etcd) acquireStubs(owner *shared.Owner, from string) (err error) {
	names := slices.Sorted(maps.Keys(e.zones))
	key := fmt.Sprintf("%s %q %q", from, names, slices.Sorted(maps.Keys(e.block.own)))
	e.stubs, err = stubSets.Acquire(owner, key, func() (*stubs, error) {
		all := make([]*served, len(names))
		for i, name := range names {
			all[i] = e.zones[name]
		}
		return openStubs(all, e.block.own), nil
	})
	return err
}

// acquireTransfers remembers the changes of the zones of the block, and tells their secondaries.
func (e *Etcd) acquireTransfers(owner *shared.Owner, from string) (err error) {
	var all []*served
	for _, z := range e.zones {
		z.journal, err = journals.Acquire(owner, fmt.Sprintf("%s %s %s", from, z.source.zone.Name, z.Name),
			func() (*journal, error) { return openJournal(z.source.index, z.Zone), nil })
		if err != nil {
			return err
		}
		all = append(all, z)
	}
	return own(owner, openNotifier(e.transfer.Notify, all))
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
