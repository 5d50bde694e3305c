// Package readiness answers for all the blocks of a plugin at once. CoreDNS's ready plugin knows plugins by their
// name, one handler for each in the whole process: the handler of a second block hides the first's. So each handler
// answers for every block of its plugin in the same configuration.
package readiness

import "github.com/coredns/caddy"

// key finds the checks of one plugin in the storage of a caddy instance.
type key string

// checks are those of all blocks of one plugin in one instance. Set-up runs on one goroutine and is over before
// anybody asks, so the slice needs no lock.
type checks struct{ ready []func() bool }

// Join adds the check of one block of the plugin called name to those of the configuration that c belongs to, and
// returns the check of them all. Call it during set-up. ready must not block.
func Join(c *caddy.Controller, name string, ready func() bool) (all func() bool) {
	g, ok := c.Get(key(name)).(*checks)
	if !ok {
		g = &checks{}
		c.Set(key(name), g)
	}
	g.ready = append(g.ready, ready)
	return g.all
}

func (g *checks) all() bool {
	for _, ready := range g.ready {
		if !ready() {
			return false
		}
	}
	return true
}
