package etcd

import (
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/upstream"
	"github.com/coredns/coredns/plugin/transfer"

	"github.com/trident-dns/trident/internal/readiness"
	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/internal/trial"
	"github.com/trident-dns/trident/plugin/backend"
)

func init() { plugin.Register(pluginName, setup) }

// setup makes a handler of each etcd block of a server block, chained in their order.
func setup(c *caddy.Controller) error {
	owner := shared.Of(c)
	block := &serverBlock{own: map[string]bool{}}
	for c.Next() {
		cfg, err := parse(c)
		if err != nil {
			return plugin.Error(pluginName, err)
		}
		if cfg.snapshot != "" {
			if err := claim(c, cfg.snapshot); err != nil {
				return plugin.Error(pluginName, c.Errf("%v", err))
			}
		}
		trial.Offer(c, cfg.tests)
		e := newEtcd(cfg)
		block.add(e)
		e.ready = readiness.Join(c, pluginName, func() bool { return cfg.readyAlways || e.hasData() })
		c.OnStartup(func() error {
			e.forwards = hasForward(dnsserver.GetConfig(c))
			e.transfer, _ = dnsserver.GetConfig(c).Handler("transfer").(*transfer.Transfer)
			if err := e.start(owner, cfg); err != nil {
				return plugin.Error(pluginName, err)
			}
			return nil
		})
		dnsserver.GetConfig(c).AddPlugin(func(next plugin.Handler) plugin.Handler {
			e.Next = next
			return e
		})
	}
	return nil
}

func newEtcd(cfg *config) *Etcd {
	e := &Etcd{
		fall:     cfg.fall,
		resolver: backend.Resolver{Settings: cfg.settings},
		zones:    zones{},
		upstream: upstream.New(),
		maxStale: cfg.maxStale,
		pinned:   cfg.pinned,
		local:    cfg.local,
	}
	for _, name := range cfg.zones {
		z := backend.NewZone(name)
		e.zones[z.Name] = &served{Zone: z, localName: strings.TrimSuffix("local.dns."+z.Name, ".") + "."}
	}
	e.ready = e.hasData
	(&serverBlock{own: map[string]bool{}}).add(e)
	return e
}
