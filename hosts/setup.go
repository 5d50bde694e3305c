package hosts

import (
	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/trident-dns/trident/internal/readiness"
	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/internal/trial"
)

func init() { plugin.Register(pluginName, setup) }

func setup(c *caddy.Controller) error {
	blocks, err := parse(c)
	if err != nil {
		return plugin.Error(pluginName, err)
	}
	for _, w := range warnings(blocks) {
		log.Warning(w)
	}
	owner := shared.Of(c)
	for _, cfg := range blocks {
		trial.Offer(c, cfg.tests)
		h := newHosts(cfg)
		h.ready = readiness.Join(c, pluginName, h.loaded)
		c.OnStartup(func() error {
			if err := h.start(owner); err != nil {
				return plugin.Error(pluginName, err)
			}
			return nil
		})
		dnsserver.GetConfig(c).AddPlugin(func(next plugin.Handler) plugin.Handler {
			h.Next = next
			return h
		})
	}
	return nil
}

func newHosts(cfg config) *Hosts {
	h := &Hosts{config: cfg, zones: newZones(cfg.origins), fall: newZones(cfg.fallthroughs.Zones)}
	h.content.Store(&content{})
	return h
}

// Ready implements ready.Readiness. It speaks for all blocks of the configuration, because ready asks one handler a
// plugin.
func (h *Hosts) Ready() bool { return h.ready() }

// loaded reports whether everything that the block names is loaded, or known to be missing.
func (h *Hosts) loaded() bool {
	c := h.content.Load()
	if !c.started {
		return false
	}
	for _, s := range c.sources {
		if !s.Ready() {
			return false
		}
	}
	for _, lists := range [][]list{c.block, c.allow} {
		for _, l := range lists {
			if !l.source.Ready() {
				return false
			}
		}
	}
	return true
}
