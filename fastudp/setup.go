package fastudp

import (
	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	clog "github.com/coredns/coredns/plugin/pkg/log"
	"github.com/coredns/coredns/plugin/pkg/parse"
	"github.com/coredns/coredns/plugin/pkg/transport"
)

const pluginName = "fastudp"

var log = clog.NewWithPlugin(pluginName)

func init() { plugin.Register(pluginName, setup) }

// setup adds no handler: fastudp stands before the chain of plugins, not in it.
func setup(c *caddy.Controller) error {
	limit, err := parseBlock(c)
	if err != nil {
		return plugin.Error(pluginName, err)
	}
	for _, key := range c.ServerBlockKeys {
		if tr, _ := parse.Transport(key); tr != transport.DNS {
			return plugin.Error(pluginName, c.Errf("only plain DNS has UDP to take over; %q uses transport %q", key, tr))
		}
	}
	conf := configurationOf(c)
	cfg := dnsserver.GetConfig(c)
	conf.blocks = append(conf.blocks, &block{c: c, limit: limit, hook: cfg.UDPDecorateWriterFunc})
	cfg.UDPDecorateWriterFunc = conf.takeOver
	return nil
}
