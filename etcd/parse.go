package etcd

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"

	"github.com/trident-dns/trident/etcd/embedhook"
)

// parse reads one etcd block. c is at its directive.
func parse(c *caddy.Controller) (*config, error) {
	cfg := newConfig()
	cfg.zones = plugin.OriginsFromArgsOrServerBlock(c.RemainingArgs(), c.ServerBlockKeys)
	root := dnsserver.GetConfig(c).Root
	for c.NextBlock() {
		name := c.Val()
		if name == "}" {
			continue
		}
		p, ok := properties[name]
		if !ok {
			return nil, c.Errf("unknown property '%s'", name)
		}
		args := c.RemainingArgs()
		if len(args) < p.min || p.max >= 0 && len(args) > p.max {
			return nil, c.Errf("%s: %d arguments, want %s", name, len(args), strings.TrimSpace(name+" "+p.usage))
		}
		if err := p.set(cfg, args, root); err != nil {
			return nil, c.Errf("%s: %v", name, err)
		}
	}
	if err := cfg.check(); err != nil {
		return nil, c.Errf("%v", err)
	}
	return cfg, nil
}

// Errors of properties that do not go together.
var (
	errMixed    = errors.New("endpoint: http:// and https:// do not mix, want all of one kind")
	errNoTLS    = errors.New("tls, tls_servername: every endpoint is http://, want https://")
	errEmbedOne = errors.New("embed: etcd listens on one address, want one endpoint that begins with http://")
)

// check refuses what cannot work, and warns of what does nothing.
func (cfg *config) check() error {
	endpoints := cfg.etcdEndpoints()
	secure := isSecure(endpoints[0])
	if slices.ContainsFunc(endpoints, func(s string) bool { return isSecure(s) != secure }) {
		return errMixed
	}
	if cfg.wantsTLS() && !secure {
		return errNoTLS
	}
	if cfg.embed != nil {
		if len(endpoints) > 1 || secure {
			return errEmbedOne
		}
		if len(cfg.endpoints) > 0 {
			cfg.embed.ClientURL = endpoints[0]
		}
		if !embedhook.Available() {
			return fmt.Errorf("embed: %w", embedhook.ErrMissing)
		}
	}
	if cfg.leases.min > cfg.leases.max {
		log.Warningf("min-lease-ttl %d is more than max-lease-ttl %d, and wins", cfg.leases.min, cfg.leases.max)
	}
	return nil
}

func isSecure(endpoint string) bool {
	return strings.HasPrefix(endpoint, "https://") || strings.HasPrefix(endpoint, "unixs://")
}

// absolute makes a path of a file one that does not depend on the working directory, as the root directive says.
func absolute(file, root string) string {
	if filepath.IsAbs(file) || root == "" {
		return file
	}
	return filepath.Join(root, file)
}
