package hosts

import (
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/trident-dns/trident/hosts/internal/hostsfile"
)

// parse reads the hosts blocks of a server block.
func parse(c *caddy.Controller) ([]config, error) {
	root := dnsserver.GetConfig(c).Root
	var blocks []config
	for c.Next() {
		cfg, err := parseBlock(c, root)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, cfg)
	}
	return blocks, nil
}

func parseBlock(c *caddy.Controller, root string) (config, error) {
	cfg := newConfig()
	args := c.RemainingArgs()
	if len(args) > 0 {
		cfg.file = inRoot(root, args[0])
		args = args[1:]
	}
	cfg.origins = plugin.OriginsFromArgsOrServerBlock(args, c.ServerBlockKeys)
	for c.NextBlock() {
		if err := parseProperty(c, root, &cfg); err != nil {
			return cfg, err
		}
	}
	if cfg.fallUnsupported && len(cfg.fallthroughs.Zones) == 0 {
		return cfg, c.Err("fallthrough_unsupported needs fallthrough in the same block")
	}
	if cfg.file == "" && len(cfg.files)+len(cfg.urls)+len(cfg.blockLists)+len(cfg.allowLists) == 0 {
		cfg.file = defaultFile
	}
	return cfg, nil
}

// parseProperty reads one line of a block.
func parseProperty(c *caddy.Controller, root string, cfg *config) error {
	name := c.Val()
	if p, ok := properties[name]; ok {
		return p(c, root, cfg)
	}
	line := strings.Join(append([]string{name}, c.RemainingArgs()...), " ")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return c.Err("empty property")
	}
	if _, ok := hostsfile.ParseAddr(fields[0]); !ok {
		return c.Errf("unknown property %q: accepted are %s, and lines of an IP address and names", name,
			strings.Join(propertyNames(), ", "))
	}
	report, err := hostsfile.Parse(strings.NewReader(line), func([]byte, netip.Addr) error { return nil })
	switch {
	case err != nil:
		return c.Errf("hosts line %q: %v", line, err)
	case report.Problems() > 0:
		return c.Errf("hosts line %q: %s: want an IP address and names", line, report.First[0].Detail)
	}
	cfg.inline = append(cfg.inline, line)
	return nil
}

// inRoot makes a path relative to the directory that the root plugin names.
func inRoot(root, path string) string {
	if root == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}
