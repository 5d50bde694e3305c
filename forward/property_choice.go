package forward

import (
	"math"
	"slices"
	"time"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/plugin"

	"github.com/miekg/dns"
)

// minProbeInterval keeps the probes of a dead upstream from using up a core. Shorter intervals are raised to it.
const minProbeInterval = 10 * time.Millisecond

func parseExcept(c *caddy.Controller, b *block) error {
	args := c.RemainingArgs()
	if len(args) == 0 {
		return errArguments
	}
	b.except = append(b.except, names(c, args)...)
	return nil
}

func parsePolicy(c *caddy.Controller, b *block) error {
	arg, err := argument(c)
	if err != nil {
		return err
	}
	p, ok := policies[arg]
	if !ok {
		return c.Errf("unknown policy '%s': accepted are random, round_robin, sequential and least_latency", arg)
	}
	b.policy = p
	return nil
}

func parseTimeout(c *caddy.Controller, b *block) (err error) {
	b.budget, err = positive(c)
	return err
}

func parseMaxConnectAttempts(c *caddy.Controller, b *block) error {
	n, err := integer(c, math.MaxUint32)
	b.maxAttempts = int(min(n, math.MaxInt32)) // more do not fit into any budget
	return err
}

func parseMaxFails(c *caddy.Controller, b *block) error {
	n, err := integer(c, math.MaxUint32)
	b.maxFails = uint32(n)
	return err
}

func parseHealthCheck(c *caddy.Controller, b *block) error {
	args := c.RemainingArgs()
	if len(args) == 0 {
		return errArguments
	}
	interval, err := time.ParseDuration(args[0])
	if err != nil {
		return c.Errf("health_check %s: accepted is a duration with a unit, such as 500ms or 10s: %v", args[0], err)
	}
	switch {
	case interval < 0:
		return c.Errf("health_check can't be negative: %s", interval)
	case interval == 0:
		return c.Errf("health_check must be positive: probes without a pause between them would take a whole core; " +
			"max_fails 0 turns them off")
	case interval < minProbeInterval:
		log.Warningf("%s:%d: health_check %s is raised to %s", c.File(), c.Line(), interval, minProbeInterval)
		interval = minProbeInterval
	}
	b.probe.Interval = interval
	b.probe.Domain = "."
	return parseProbe(c, b, args[1:])
}

// parseProbe reads what stands behind the interval of health_check.
func parseProbe(c *caddy.Controller, b *block, rest []string) error {
	for len(rest) > 0 {
		option := rest[0]
		rest = rest[1:]
		switch option {
		case "no_rec":
			b.probe.RecursionDesired = false
		case "periodic":
			b.probe.Periodic = true
		case "domain":
			if len(rest) < 1 {
				return errArguments
			}
			if _, ok := dns.IsDomainName(rest[0]); !ok {
				return c.Errf("health_check: invalid domain name %s", rest[0])
			}
			b.probe.Domain = plugin.Name(rest[0]).Normalize()
			rest = rest[1:]
		case "rcode":
			codes, after, err := probeRcodes(c, rest)
			if err != nil {
				return err
			}
			b.probe.FailRcodes, rest = append(b.probe.FailRcodes, codes...), after
		default:
			return c.Errf("health_check: unknown option %s: accepted are no_rec, domain FQDN, rcode RCODE... and periodic", option)
		}
	}
	slices.Sort(b.probe.FailRcodes)
	b.probe.FailRcodes = slices.Compact(b.probe.FailRcodes)
	return nil
}

// probeRcodes reads names of rcodes up to the next option.
func probeRcodes(c *caddy.Controller, args []string) (codes []int, rest []string, err error) {
	n := slices.IndexFunc(args, func(arg string) bool {
		return slices.Contains([]string{"no_rec", "periodic", "domain", "rcode"}, arg)
	})
	if n < 0 {
		n = len(args)
	}
	if n == 0 {
		return nil, nil, errArguments
	}
	codes, err = rcodesOf(c, "health_check rcode", args[:n])
	if slices.Contains(codes, dns.RcodeSuccess) {
		return nil, nil, c.Errf("health_check rcode: NOERROR is what a sound upstream says: accepted are rcodes such as " +
			"SERVFAIL and REFUSED")
	}
	return codes, args[n:], err
}

func parseFailfast(c *caddy.Controller, b *block) error { return flag(c, &b.failfast) }

func parseFailover(c *caddy.Controller, b *block) error {
	codes, err := rcodes(c)
	for _, code := range codes {
		if code == dns.RcodeSuccess {
			return c.Errf("NoError cannot be used in failover: accepted are rcodes that say that a question failed")
		}
	}
	b.rules.failover = append(b.rules.failover, codes...)
	return err
}

func parseNext(c *caddy.Controller, b *block) error {
	codes, err := rcodes(c)
	b.rules.next = append(b.rules.next, codes...)
	return err
}

func parseNextOnNodata(c *caddy.Controller, b *block) error { return flag(c, &b.rules.nextOnNodata) }
