package fastudp

import (
	"strconv"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/plugin"
)

// maxConcurrent bounds max_concurrent: more questions than IDs and addresses could tell apart are a typing error.
const maxConcurrent = 1 << 24

// parseBlock reads the directive of one server block and returns the bound on questions in progress.
func parseBlock(c *caddy.Controller) (limit int, err error) {
	limit = defaultLimit()
	for i := 0; c.Next(); i++ {
		if i > 0 {
			return 0, plugin.ErrOnce
		}
		if len(c.RemainingArgs()) > 0 {
			return 0, c.Errf("fastudp takes no arguments, only the property max_concurrent")
		}
		for c.NextBlock() {
			if c.Val() != "max_concurrent" {
				return 0, c.Errf("unknown property %q: max_concurrent is accepted", c.Val())
			}
			if limit, err = parseLimit(c); err != nil {
				return 0, err
			}
		}
	}
	return limit, nil
}

func parseLimit(c *caddy.Controller) (int, error) {
	args := c.RemainingArgs()
	if len(args) != 1 {
		return 0, c.Errf("max_concurrent takes one number, not %d arguments", len(args))
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 || n > maxConcurrent {
		return 0, c.Errf("max_concurrent %q: a number from 1 to %d is accepted", args[0], maxConcurrent)
	}
	return n, nil
}
