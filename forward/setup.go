package forward

import (
	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/dnstap"
	clog "github.com/coredns/coredns/plugin/pkg/log"
	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/internal/trial"
)

const pluginName = "forward"

var log = clog.NewWithPlugin(pluginName)

func init() { plugin.Register(pluginName, setup) }

func setup(c *caddy.Controller) error {
	blocks, err := parseBlocks(c)
	if err != nil {
		return plugin.Error(pluginName, err)
	}
	owner := shared.Of(c)
	config := dnsserver.GetConfig(c)
	for _, b := range blocks {
		trial.Offer(c, b.tests)
		f := newForward(b)
		config.AddPlugin(func(next plugin.Handler) plugin.Handler {
			f.Next = next
			return f
		})
		c.OnStartup(func() error {
			if err := f.start(owner); err != nil {
				return plugin.Error(pluginName, err)
			}
			if tap, ok := config.Handler("dnstap").(*dnstap.Dnstap); ok {
				f.taps = tapChain(tap)
			}
			return nil
		})
	}
	return nil
}

// acceptedBlock ends the errors about the line that a block begins with.
const acceptedBlock = "accepted is forward FROM TO..., where FROM is a domain name or a network in CIDR notation, and for TO " +
	acceptedTO

// parseBlocks reads all forward blocks of a server block, in their order.
func parseBlocks(c *caddy.Controller) ([]*block, error) {
	var blocks []*block
	for c.Next() {
		b, err := parseBlock(c)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func parseBlock(c *caddy.Controller) (*block, error) {
	var from string
	if !c.Args(&from) {
		return nil, c.Errf("FROM and TO are missing: %s", acceptedBlock)
	}
	b := newBlock()
	if b.zones = plugin.Host(from).NormalizeExact(); len(b.zones) == 0 {
		return nil, c.Errf("unable to normalize '%s': FROM is a domain name or a network in CIDR notation", from)
	}
	to := c.RemainingArgs()
	if len(to) == 0 {
		return nil, c.Errf("TO is missing behind FROM %s: %s", from, acceptedBlock)
	}
	read, err := destinations(to)
	if err != nil {
		return nil, c.Errf("%v", err)
	}
	if b.to = read.list; read.files {
		b.watched = to
	}
	file, line := c.File(), c.Line()
	for c.NextBlock() {
		if err := parseProperty(c, b); err != nil {
			return nil, err
		}
	}
	more, err := b.check()
	if err != nil {
		return nil, c.Errf("%v", err)
	}
	for _, w := range append(read.warnings, more...) {
		log.Warningf("%s:%d: %s", file, line, w)
	}
	return b, nil
}
