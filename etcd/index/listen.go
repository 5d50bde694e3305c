package index

import (
	"slices"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/mirror"
)

// Change is what a new state of an Index changed.
type Change struct {
	Before, After *Snapshot
	// Touched are the paths of the names whose records are not what they were, some of them perhaps several times. Of the
	// first list they are those of the zones.
	Touched []string
	// Whole is set for a list, whose state shares no memory with Before, and where all may be answered otherwise than it was.
	Whole bool
}

// Touches tells whether any name at or below path was touched, or all may have been.
func (c Change) Touches(path string) bool {
	return c.Whole || slices.ContainsFunc(c.Touched, func(p string) bool { return isWithin(p, path) })
}

// listener is compared by its address.
type listener struct{ tell func(Change) }

// Listen has tell called with each change from now on, one after the other, until stop is called. It is called under the
// lock of the index: it must not block, and must not change the index.
func (x *Index) Listen(tell func(Change)) (stop func()) {
	l := &listener{tell}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.listeners = append(slices.Clone(x.listeners), l)
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.listeners = slices.DeleteFunc(slices.Clone(x.listeners), func(o *listener) bool { return o == l })
	}
}

// Below calls yield with the keys of etcd whose paths lie below path, in the order of paths, until yield returns false.
func (s *Snapshot) Below(prefix skydns.Prefix, path string, yield func(key string, r *skydns.Record) bool) {
	from := path + "/"
	s.records.ascend(byPath, from, func(e entry) bool {
		return strings.HasPrefix(e.path, from) && yield(e.key(prefix), &e.row.Record)
	})
}

// Touch gives all zones another serial: what is answered for them has changed, though no record has. revision is that of
// the reason.
func (x *Index) Touch(revision int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.Snapshot().ready {
		return
	}
	c := x.Snapshot().change(x.prefix)
	c.touched = x.zones
	x.publish(c, mirror.Position{Revision: revision}, true)
}
