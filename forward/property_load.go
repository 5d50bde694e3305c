package forward

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/coredns/caddy"
)

func parseMaxConcurrent(c *caddy.Controller, b *block) (err error) {
	b.maxConcurrent, err = integer(c, math.MaxInt64)
	return err
}

// mostInFlight is what 256 upstreams at the limit of file descriptors and memory could not bear either.
const mostInFlight = 1 << 24

func parseMaxInFlight(c *caddy.Controller, b *block) error {
	n, err := integer(c, mostInFlight)
	if err == nil && n == 0 {
		return c.Errf("max_in_flight must be positive: accepted is a number from 1 to %d", mostInFlight)
	}
	b.maxInFlight = int(n)
	return err
}

// The largest rate and burst that are accepted: more than any resolver answers.
const (
	mostRate  = 1e7
	mostBurst = 1e6
)

func parseRateLimit(c *caddy.Controller, b *block) error {
	args := c.RemainingArgs()
	if len(args) != 1 && len(args) != 2 {
		return errArguments
	}
	rate, err := strconv.ParseFloat(args[0], 64)
	if err != nil || !(rate > 0 && rate <= mostRate) {
		return c.Errf("rate_limit %s: accepted is a number of questions a second that is positive and at most %.0f", args[0],
			float64(mostRate))
	}
	b.rateLimit, b.rateBurst = rate, 0
	if len(args) == 1 {
		return nil
	}
	burst, err := strconv.Atoi(args[1])
	if err != nil || burst < 1 || burst > mostBurst {
		return c.Errf("rate_limit: burst %s: accepted is a number of questions from 1 to %.0f", args[1], float64(mostBurst))
	}
	b.rateBurst = burst
	return nil
}

func parseHedge(c *caddy.Controller, b *block) error {
	args := c.RemainingArgs()
	if len(args) != 1 && len(args) != 2 {
		return errArguments
	}
	h := hedging{mode: hedgeOn, share: defaultShare}
	switch args[0] {
	case "off", "on":
		if len(args) == 2 {
			return errArguments
		}
		if args[0] == "off" {
			h.mode = hedgeOff
		}
	default:
		delay, err := time.ParseDuration(args[0])
		if err != nil || delay < time.Millisecond {
			return c.Errf("hedge %s: accepted are off, on, and a duration of at least 1ms, such as 50ms", args[0])
		}
		h.delay = delay
	}
	if len(args) == 2 {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(args[1], "%"), 64)
		if err != nil || !strings.HasSuffix(args[1], "%") || !(percent > 0 && percent <= 100) {
			return c.Errf("hedge: budget %s: accepted is a share of the questions that is more than 0%% and at most 100%%, such as 5%%",
				args[1])
		}
		h.share = percent / 100
	}
	b.hedge = h
	return nil
}

// minLookup keeps look-ups from being a load.
const minLookup = 100 * time.Millisecond

func parseLookupInterval(c *caddy.Controller, b *block) error {
	args := c.RemainingArgs()
	if len(args) != 2 {
		return errArguments
	}
	var bounds [2]time.Duration
	for i, arg := range args {
		d, err := time.ParseDuration(arg)
		if err != nil || d < minLookup {
			return c.Errf("lookup_interval %s: accepted is a duration of at least %s, such as 5s", arg, minLookup)
		}
		bounds[i] = d
	}
	if bounds[0] > bounds[1] {
		return c.Errf("lookup_interval %s %s: accepted is the shorter interval before the longer one", args[0], args[1])
	}
	b.pace = pace{bounds[0], bounds[1]}
	return nil
}
