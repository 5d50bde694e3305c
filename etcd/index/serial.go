package index

import (
	"maps"
	"strings"
)

// nextSerials returns the serials of the zones that hold one of the touched names. A serial is the revision of the
// change, or one more than it was when etcd was set back: a secondary never sees it fall.
func nextSerials(serials map[string]uint64, zones, touched []string, revision int64) map[string]uint64 {
	next := map[string]uint64{}
	for _, zone := range zones {
		for _, path := range touched {
			if isWithin(path, zone) {
				next[zone] = max(uint64(revision), serials[zone]+1)
				break
			}
		}
	}
	return next
}

func isWithin(path, zone string) bool {
	rest, ok := strings.CutPrefix(path, zone)
	return ok && (zone == "" || rest == "" || rest[0] == '/')
}

func (c *change) setSerials(next map[string]uint64) {
	if len(next) == 0 {
		return
	}
	all := make(map[string]uint64, len(c.serials)+len(next))
	maps.Copy(all, c.serials)
	maps.Copy(all, next)
	c.serials = all
}
