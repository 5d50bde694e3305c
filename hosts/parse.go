package hosts

import (
	"path/filepath"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/trident-dns/trident/hosts/internal/hostsfile"
	"github.com/trident-dns/trident/hosts/internal/wire"
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
	if len(fields) == 1 {
		return c.Errf("hosts line %q has an address but no name", line)
	}
	for _, f := range fields[1:] {
		if _, err := wire.Append(nil, f); err != nil {
			return c.Errf("hosts line %q: %q is not a domain name: %v", line, f, err)
		}
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
