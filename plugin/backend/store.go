package backend

import (
	"github.com/trident-dns/trident/plugin/skydns"
)

// Store holds the records of a zone, and perhaps of others, by path (see package skydns). It is one state: whatever is
// asked of it while a question is answered belongs together. Its methods may be called from any goroutine.
type Store interface {
	// Ascend calls yield with the records whose paths are not before from, in the order of paths, until yield returns
	// false. One path may have several records.
	Ascend(from string, yield func(path string, r *skydns.Record) bool)
	// Owned calls yield with the records that lie below path, and whose path less the labels of targetstrip is path.
	Owned(path string, yield func(path string, r *skydns.Record) bool)
	// HasCuts tells whether any record of type NS is kept, so that delegations need to be looked for; Cut whether one
	// belongs to path, less the labels of targetstrip.
	HasCuts() bool
	Cut(path string) bool
	// Serial is the serial of the SOA record of a zone.
	Serial(zone *Zone) uint32
}

// View tells which zone a name belongs to. It is used by one question and need not be safe for more.
type View interface {
	// Zone returns the closest zone at or above name, lower-cased and fully qualified, with its records. nil: there is
	// none here.
	Zone(name string) (*Zone, Store)
	// IsZone tells whether a zone with this path is served.
	IsZone(path string) bool
}

// Zone is a zone that is served. It does not change.
type Zone struct {
	Name string // lower-cased and fully qualified
	Path string // of the name
	apex string // path of what answers for the apex
	ns   string // path of the name servers
}

// NewZone returns the zone of a name.
func NewZone(name string) *Zone {
	z := &Zone{Path: skydns.PathOf(name)}
	z.Name = skydns.NameOf(z.Path)
	z.apex, z.ns = join(z.Path, "dns/apex"), join(z.Path, "dns/ns")
	return z
}

// join appends a path to that of a name above it.
func join(path, below string) string {
	if path == "" {
		return below
	}
	return path + "/" + below
}

// isBelow tells whether path is that of a name below the name of top.
func isBelow(path, top string) bool {
	if top == "" {
		return path != ""
	}
	return len(path) > len(top) && path[len(top)] == '/' && path[:len(top)] == top
}

// IsWithin tells whether path is that of the name of top, or of one below it.
func IsWithin(path, top string) bool { return path == top || isBelow(path, top) }
