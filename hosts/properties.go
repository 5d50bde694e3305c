package hosts

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coredns/caddy"
	"github.com/trident-dns/trident/hosts/internal/source"
)

// property reads the arguments of one property into cfg.
type property func(c *caddy.Controller, root string, cfg *config) error

// properties are all that a block may have beside hosts lines.
var properties map[string]property

func init() {
	properties = map[string]property{
		"ttl":                     parseTTL,
		"reload":                  parseReload,
		"no_reverse":              parseNoReverse,
		"fallthrough":             parseFallthrough,
		"fallthrough_unsupported": parseFallthroughUnsupported,
		"file":                    parseFile,
		"url":                     parseURL,
		"url_refresh":             parseURLRefresh,
		"cache_dir":               parseCacheDir,
		"wildcards":               parseWildcards,
		"nxdomain":                parseNXDomain,
		"block":                   parseBlockLists,
		"allow":                   parseAllowLists,
		"block_reply":             parseBlockReply,
	}
}

func propertyNames() []string {
	var names []string
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func parseTTL(c *caddy.Controller, _ string, cfg *config) error {
	args := c.RemainingArgs()
	if len(args) == 0 {
		return c.Err("ttl needs a number of seconds from 1 to 65535")
	}
	ttl, err := strconv.Atoi(args[0])
	if err != nil || ttl < 1 || ttl > 65535 {
		return c.Errf("ttl %q: want a number of seconds from 1 to 65535", args[0])
	}
	if len(args) > 1 {
		log.Warningf("%s:%d: ttl takes one number, ignoring %q", c.File(), c.Line(), args[1:])
	}
	cfg.ttl = uint32(ttl)
	return nil
}

func parseReload(c *caddy.Controller, _ string, cfg *config) error {
	d, err := duration(c, "reload", "0 to read the files once, or a duration such as 5s")
	if err != nil {
		return err
	}
	cfg.reload = d
	return nil
}

// minURLRefresh is how often a list may be asked for: whoever serves it serves it to many.
const minURLRefresh = time.Minute

func parseURLRefresh(c *caddy.Controller, _ string, cfg *config) error {
	const want = "a duration of 1m or more, such as 4h"
	d, err := duration(c, "url_refresh", want)
	if err != nil {
		return err
	}
	if d < minURLRefresh {
		return c.Errf("url_refresh %v: want %s", d, want)
	}
	cfg.urlRefresh = d
	return nil
}

// duration reads the one argument of the property name, a duration that is not negative.
func duration(c *caddy.Controller, name, want string) (time.Duration, error) {
	args := c.RemainingArgs()
	if len(args) != 1 {
		return 0, c.Errf("%s needs one argument: %s", name, want)
	}
	d, err := time.ParseDuration(args[0])
	if err != nil || d < 0 {
		return 0, c.Errf("%s %q: want %s", name, args[0], want)
	}
	return d, nil
}

func parseNoReverse(_ *caddy.Controller, _ string, cfg *config) error {
	cfg.reverse = false
	return nil
}

func parseNXDomain(c *caddy.Controller, _ string, cfg *config) error {
	if args := c.RemainingArgs(); len(args) > 0 {
		return c.Errf("nxdomain takes no argument, got %q", args)
	}
	cfg.nxdomain = true
	return nil
}

func parseFallthrough(c *caddy.Controller, _ string, cfg *config) error {
	cfg.fallthroughs.SetZonesFromArgs(c.RemainingArgs())
	return nil
}

func parseFallthroughUnsupported(c *caddy.Controller, _ string, cfg *config) error {
	if args := c.RemainingArgs(); len(args) > 0 {
		return c.Errf("fallthrough_unsupported takes no argument, got %q: its zones are those of fallthrough", args)
	}
	cfg.fallUnsupported = true
	return nil
}

func parseWildcards(c *caddy.Controller, _ string, cfg *config) error {
	args := c.RemainingArgs()
	if len(args) != 1 || (args[0] != "deep" && args[0] != "one") {
		return c.Errf("wildcards %q: want one, for one label, or deep, for any number", strings.Join(args, " "))
	}
	cfg.deepWildcards = args[0] == "deep"
	return nil
}

func parseFile(c *caddy.Controller, root string, cfg *config) error {
	args := c.RemainingArgs()
	if len(args) == 0 {
		return c.Err("file needs at least one path of a file or directory, or pattern")
	}
	for _, arg := range args {
		if err := source.CheckPattern(arg); err != nil {
			return c.Errf("file %q: %v", arg, err)
		}
		cfg.files = append(cfg.files, inRoot(root, arg))
	}
	return nil
}
