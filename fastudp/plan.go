package fastudp

import (
	"net"
	"slices"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/transport"

	"github.com/miekg/dns"
)

// block is one server block with the directive.
type block struct {
	c     *caddy.Controller
	limit int                                        // max_concurrent
	hook  func(*dnsserver.Server) dns.DecorateWriter // what was set before ours; may be nil
}

// site is one zone of a server block, ours or another's.
type site struct {
	cfg   *dnsserver.Config
	block *block // nil without the directive
}

// plan says which addresses the blocks listen on, and refuses what fastudp does not go together with.
func plan(blocks []*block) ([]*tenure, error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	addresses, byAddress, err := sitesByAddress(blocks)
	if err != nil {
		return nil, err
	}
	var tenures []*tenure
	for _, address := range addresses {
		t, err := planAddress(address, byAddress[address])
		if err != nil {
			return nil, err
		}
		if t != nil {
			tenures = append(tenures, t)
		}
	}
	return tenures, nil
}

// planAddress plans one address for the sites that share it. It returns nil when none of them has the directive.
func planAddress(address string, sites []site) (*tenure, error) {
	t := &tenure{address: address, settled: make(chan struct{})}
	var ours *block
	for _, s := range sites {
		if s.block != nil {
			ours = s.block
			t.limit = max(t.limit, ours.limit)
		}
	}
	if ours == nil {
		return nil, nil
	}
	last := ours
	for _, s := range sites {
		if s.cfg.ProxyProtoConnPolicy != nil {
			return nil, plugin.Error(pluginName, ours.c.Errf(
				"proxyproto cannot be used on a listener with fastudp (%s): remove one of the two", address))
		}
		if s.cfg.UDPDecorateWriterFunc == nil {
			continue
		}
		last = s.block
		switch {
		case s.block == nil:
			t.hook = s.cfg.UDPDecorateWriterFunc
		case s.block.hook != nil:
			t.hook = s.block.hook
		}
	}
	if last == nil {
		return nil, plugin.Error(pluginName, ours.c.Errf("a later server block on the same listener (%s) has a plugin that "+
			"takes over the writing of UDP, such as shed: put fastudp into that block as well", address))
	}
	return t, nil
}

// sitesByAddress lists the sites of the instance, in the order of CoreDNS, by the address that they listen on.
func sitesByAddress(blocks []*block) (addresses []string, sites map[string][]site, err error) {
	sites = make(map[string][]site)
	for i := 0; ; i++ {
		ours := slices.IndexFunc(blocks, func(b *block) bool { return b.c.ServerBlockIndex == i })
		for j := 0; ; j++ {
			cfg := config(blocks[0].c, i, j)
			if cfg == nil {
				if j == 0 {
					return addresses, sites, nil
				}
				break
			}
			s := site{cfg: cfg}
			if ours >= 0 {
				s.block = blocks[ours]
			}
			for _, host := range cfg.ListenHosts {
				addr, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, cfg.Port))
				if err != nil {
					return nil, nil, plugin.Error(pluginName, blocks[0].c.Errf("listen address %q: %v", host, err))
				}
				address := cfg.Transport + "://" + addr.String()
				if cfg.Transport != transport.DNS {
					continue
				}
				if _, known := sites[address]; !known {
					addresses = append(addresses, address)
				}
				sites[address] = append(sites[address], s)
			}
		}
	}
}

// config returns the configuration of the zone number key of server block number index, nil beyond the last one. It is
// for OnStartup: dnsserver makes an empty configuration for numbers that do not exist, which nobody looks at once the
// servers have been made.
func config(c *caddy.Controller, index, key int) *dnsserver.Config {
	at := *c
	at.ServerBlockIndex, at.ServerBlockKeyIndex = index, key
	if cfg := dnsserver.GetConfig(&at); cfg.Zone != "" {
		return cfg
	}
	return nil
}
