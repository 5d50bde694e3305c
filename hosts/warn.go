package hosts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// warnings returns what the blocks of a server block say that has no effect.
func warnings(blocks []config) []string {
	var all []string
	for i, b := range blocks {
		if len(b.allowLists) > 0 && len(b.blockLists) == 0 {
			all = append(all, "allow has no effect without block")
		}
		if b.cacheDir != "" && !b.hasURL() {
			all = append(all, "cache_dir has no effect without a URL")
		}
		if j := slices.IndexFunc(blocks[:i], func(earlier config) bool { return earlier.hides(b) }); j >= 0 {
			all = append(all, fmt.Sprintf("block %d for %s is not asked for names: block %d before it has the same zones "+
				"and no fallthrough", i+1, strings.Join(b.origins, " "), j+1))
		}
	}
	return all
}

func (c *config) hasURL() bool {
	return len(c.urls) > 0 || slices.ContainsFunc(c.blockLists, isURL) || slices.ContainsFunc(c.allowLists, isURL)
}

// hides reports whether no name of later is passed on by a block before it that says c.
func (c *config) hides(later config) bool {
	return len(c.fallthroughs.Zones) == 0 && !slices.ContainsFunc(later.origins, func(zone string) bool {
		return !slices.ContainsFunc(c.origins, func(mine string) bool { return dns.IsSubDomain(mine, zone) })
	})
}
