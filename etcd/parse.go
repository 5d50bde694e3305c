package etcd

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
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
			return nil, c.Errf("unknown property '%s', want one of %s",
				name, strings.Join(slices.Sorted(maps.Keys(properties)), ", "))
		}
		args := c.RemainingArgs()
		if len(args) < p.min || p.max >= 0 && len(args) > p.max {
			return nil, c.Errf("%s: %d arguments, want %s", name, len(args), strings.TrimSpace(name+" "+p.usage))
		}
		if name == "endpoint" {
			for _, ep := range args {
				if wrong := endpointFault(ep); wrong != "" {
					// The in-tree plugin loads it, and the other endpoints may do.
					log.Warningf("%v", c.Errf("endpoint: %q %s, want [http[s]://]HOST:PORT or unix[s]://PATH", ep, wrong))
				}
			}
		}
		cfg.pinned[name] = true
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

// endpointFault tells what keeps an endpoint from being reached, "" when nothing does that can be seen.
func endpointFault(endpoint string) string {
	scheme, host, ok := strings.Cut(endpoint, "://")
	if !ok {
		scheme, host = "http", endpoint
	}
	switch scheme {
	case "unix", "unixs":
		return ""
	case "http", "https":
	default:
		return "has an unknown scheme"
	}
	host, _, _ = strings.Cut(host, "/")
	if host == "" {
		return "has no host"
	}
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return "" // the port that goes with the scheme
	}
	if n, err := strconv.ParseUint(host[i+1:], 10, 16); err != nil || n == 0 {
		return "has no port from 1 to 65535"
	}
	return ""
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
