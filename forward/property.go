package forward

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/plugin"

	"github.com/miekg/dns"
)

// properties are what can stand in a block, each with the function that reads it. The Corefile's cursor is on the name
// when the function is called, and must be on the last argument when it returns. Errors carry file and line.
var properties = map[string]func(c *caddy.Controller, b *block) error{
	"except":                           parseExcept,
	"force_tcp":                        parseForceTCP,
	"prefer_udp":                       parsePreferUDP,
	"expire":                           parseExpire,
	"max_age":                          parseMaxAge,
	"max_idle_conns":                   parseMaxIdleConns,
	"read_timeout":                     parseReadTimeout,
	"timeout":                          parseTimeout,
	"max_fails":                        parseMaxFails,
	"max_connect_attempts":             parseMaxConnectAttempts,
	"doh_method":                       parseDoHMethod,
	"tls":                              parseTLS,
	"tls_servername":                   parseTLSServername,
	"policy":                           parsePolicy,
	"health_check":                     parseHealthCheck,
	"max_concurrent":                   parseMaxConcurrent,
	"next":                             parseNext,
	"next_on_nodata":                   parseNextOnNodata,
	"failfast_all_unhealthy_upstreams": parseFailfast,
	"failover":                         parseFailover,
	"source_address":                   parseSourceAddress,
	"resolver":                         parseResolver,
}

// propertyNames lists the properties for an error message.
func propertyNames() string {
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// flag reads a property that has no argument.
func flag(c *caddy.Controller, set *bool) error {
	if c.NextArg() {
		return c.ArgErr()
	}
	*set = true
	return nil
}

// argument reads the one argument of a property.
func argument(c *caddy.Controller) (string, error) {
	args := c.RemainingArgs()
	if len(args) != 1 {
		return "", c.ArgErr()
	}
	return args[0], nil
}

// duration reads the one argument of a property, a time that is zero or more.
func duration(c *caddy.Controller) (time.Duration, error) {
	name := c.Val()
	arg, err := argument(c)
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(arg)
	if err != nil {
		return 0, c.Errf("%s %s: accepted is a duration with a unit, such as 500ms or 10s: %v", name, arg, err)
	}
	if d < 0 {
		return 0, c.Errf("%s can't be negative: %s: accepted is a duration such as 500ms or 10s", name, d)
	}
	return d, nil
}

// positive is duration for a time that must not be zero.
func positive(c *caddy.Controller) (time.Duration, error) {
	name := c.Val()
	d, err := duration(c)
	if err == nil && d == 0 {
		return 0, c.Errf("%s must be positive: %s", name, d)
	}
	return d, err
}

// integer reads the one argument of a property, a whole number from 0 to most.
func integer(c *caddy.Controller, most int64) (int64, error) {
	name := c.Val()
	arg, err := argument(c)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(arg, 10, 64)
	switch {
	case err != nil:
		return 0, c.Errf("%s %s: accepted is a whole number from 0 to %d: %v", name, arg, most, err)
	case n < 0:
		return 0, c.Errf("%s can't be negative: %d: accepted is a number from 0 to %d", name, n, most)
	case n > most:
		return 0, c.Errf("%s %d: accepted is a number from 0 to %d", name, n, most)
	}
	return n, nil
}

// rcodes reads one or more names of rcodes, as in SERVFAIL and NXDOMAIN.
func rcodes(c *caddy.Controller) ([]int, error) {
	name := c.Val()
	args := c.RemainingArgs()
	if len(args) == 0 {
		return nil, c.ArgErr()
	}
	codes := make([]int, 0, len(args))
	for _, arg := range args {
		code, ok := dns.StringToRcode[strings.ToUpper(arg)]
		if !ok {
			return nil, c.Errf("%s: %s is not a valid rcode: accepted are names such as SERVFAIL, REFUSED and NXDOMAIN",
				name, arg)
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// names reads zones, in CIDR notation too. One that is neither is left out with a warning, as it matches nothing.
func names(c *caddy.Controller, args []string) []string {
	var list []string
	for _, arg := range args {
		normal := plugin.Host(arg).NormalizeExact()
		if len(normal) == 0 {
			log.Warningf("%s:%d: %s is not a domain name and matches nothing", c.File(), c.Line(), arg)
		}
		list = append(list, normal...)
	}
	return list
}
