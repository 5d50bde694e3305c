package forward

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/plugin"

	"github.com/miekg/dns"
)

// property is one kind of line in a block.
type property struct {
	// parse reads it. The Corefile's cursor is on the name when it is called, and must be on the last argument when it
	// returns. Errors carry file and line, but for errArguments.
	parse func(c *caddy.Controller, b *block) error
	usage string // what stands behind the name
}

// errArguments: there are too many arguments or too few.
var errArguments = errors.New("wrong argument count")

// properties are what can stand in a block.
var properties = map[string]property{
	"except":                           {parseExcept, "IGNORED_NAMES..."},
	"force_tcp":                        {parseForceTCP, ""},
	"prefer_udp":                       {parsePreferUDP, ""},
	"expire":                           {parseExpire, "DURATION"},
	"max_age":                          {parseMaxAge, "DURATION"},
	"max_idle_conns":                   {parseMaxIdleConns, "INTEGER"},
	"read_timeout":                     {parseReadTimeout, "DURATION"},
	"timeout":                          {parseTimeout, "DURATION"},
	"max_fails":                        {parseMaxFails, "INTEGER"},
	"max_connect_attempts":             {parseMaxConnectAttempts, "INTEGER"},
	"doh_method":                       {parseDoHMethod, "GET|POST"},
	"tls":                              {parseTLS, "[CERT KEY] [CA]"},
	"tls_servername":                   {parseTLSServername, "NAME"},
	"policy":                           {parsePolicy, "random|round_robin|sequential|least_latency"},
	"hedge":                            {parseHedge, "off|on|DELAY [BUDGET%]"},
	"health_check":                     {parseHealthCheck, "DURATION [no_rec] [domain FQDN] [rcode RCODE...] [periodic]"},
	"max_concurrent":                   {parseMaxConcurrent, "MAX"},
	"max_in_flight":                    {parseMaxInFlight, "MAX"},
	"rate_limit":                       {parseRateLimit, "QPS [BURST]"},
	"next":                             {parseNext, "RCODE..."},
	"next_on_nodata":                   {parseNextOnNodata, ""},
	"failfast_all_unhealthy_upstreams": {parseFailfast, ""},
	"failover":                         {parseFailover, "RCODE..."},
	"source_address":                   {parseSourceAddress, "IP"},
	"resolver":                         {parseResolver, "IP[:PORT]..."},
	"lookup_interval":                  {parseLookupInterval, "LEAST MOST"},
}

// parseProperty reads the property that the cursor is on.
func parseProperty(c *caddy.Controller, b *block) error {
	name := c.Val()
	p, ok := properties[name]
	if !ok {
		return c.Errf("unknown property '%s': accepted are %s", name, propertyNames())
	}
	err := p.parse(c, b)
	if errors.Is(err, errArguments) {
		return c.Errf("%s: %v: accepted is %s", name, err, strings.TrimSpace(name+" "+p.usage))
	}
	return err
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
		return errArguments
	}
	*set = true
	return nil
}

// argument reads the one argument of a property.
func argument(c *caddy.Controller) (string, error) {
	args := c.RemainingArgs()
	if len(args) != 1 {
		return "", errArguments
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
		return nil, errArguments
	}
	return rcodesOf(c, name, args)
}

// rcodesOf reads args, which are behind name.
func rcodesOf(c *caddy.Controller, name string, args []string) ([]int, error) {
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
