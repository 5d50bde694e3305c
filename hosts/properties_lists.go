package hosts

import (
	"net/url"
	"strings"

	"github.com/coredns/caddy"
	"github.com/trident-dns/trident/hosts/internal/source"
)

func parseURL(c *caddy.Controller, _ string, cfg *config) error {
	args := c.RemainingArgs()
	if len(args) == 0 {
		return c.Err("url needs at least one http:// or https:// URL")
	}
	for _, arg := range args {
		if err := checkURL(c, "url", arg); err != nil {
			return err
		}
		cfg.urls = append(cfg.urls, arg)
	}
	return nil
}

func parseCacheDir(c *caddy.Controller, root string, cfg *config) error {
	args := c.RemainingArgs()
	if len(args) != 1 {
		return c.Err("cache_dir needs one directory, for the copies of what url, block and allow fetch")
	}
	cfg.cacheDir = inRoot(root, args[0])
	return nil
}

func parseBlockLists(c *caddy.Controller, root string, cfg *config) error {
	return parseLists(c, "block", root, &cfg.blockLists)
}

func parseAllowLists(c *caddy.Controller, root string, cfg *config) error {
	return parseLists(c, "allow", root, &cfg.allowLists)
}

func parseLists(c *caddy.Controller, name, root string, lists *[]string) error {
	args := c.RemainingArgs()
	if len(args) == 0 {
		return c.Errf("%s needs at least one list: a path of a file or directory, a pattern or a URL", name)
	}
	for _, arg := range args {
		if isURL(arg) {
			if err := checkURL(c, name, arg); err != nil {
				return err
			}
			*lists = append(*lists, arg)
			continue
		}
		if err := source.CheckPattern(arg); err != nil {
			return c.Errf("%s %q: %v", name, arg, err)
		}
		*lists = append(*lists, inRoot(root, arg))
	}
	return nil
}

func parseBlockReply(c *caddy.Controller, _ string, cfg *config) error {
	args := c.RemainingArgs()
	if len(args) == 1 {
		if reply, ok := blockReplies[args[0]]; ok {
			cfg.reply = reply
			return nil
		}
	}
	return c.Errf("block_reply %q: want null, nxdomain, nodata or refused", strings.Join(args, " "))
}

// maxURL is what servers and proxies agree on; it also has to fit into the header of a copy.
const maxURL = 2048

func isURL(arg string) bool { return strings.Contains(arg, "://") }

func checkURL(c *caddy.Controller, property, arg string) error {
	u, err := url.Parse(arg)
	if err != nil {
		return c.Errf("%s %q: %v", property, arg, err)
	}
	if len(arg) > maxURL {
		return c.Errf("%s: URL of %d octets, want at most %d", property, len(arg), maxURL)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return c.Errf("%s %q: want an http:// or https:// URL", property, arg)
	}
	return nil
}

// redacted returns a URL that was checked as it may appear in metrics and logs.
func redacted(arg string) string {
	u, err := url.Parse(arg)
	if err != nil {
		return ""
	}
	return u.Redacted()
}
