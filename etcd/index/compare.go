package index

import (
	"iter"

	"github.com/trident-dns/trident/plugin/skydns"
)

// differences returns the paths at which two trees of records answer differently.
func differences(a, b tree) []string {
	var paths []string
	next, stop := iter.Pull(b.all())
	defer stop()
	other, more := next()
	for e := range a.all() {
		for more && byPathAndKey(other, e) < 0 {
			paths = append(paths, other.path)
			other, more = next()
		}
		if more && byPathAndKey(other, e) == 0 {
			if !other.row.Same(&e.row.Record) {
				paths = append(paths, e.path)
			}
			other, more = next()
			continue
		}
		paths = append(paths, e.path)
	}
	for ; more; other, more = next() {
		paths = append(paths, other.path)
	}
	return paths
}

func byPathAndKey(a, b entry) int { return order(byPath).compare(a, b) }

func (t tree) all() iter.Seq[entry] {
	return func(yield func(entry) bool) { t.ascend(byPath, "", yield) }
}

// apex returns the entry of the key of the zone's own name.
func (s *Snapshot) apex(key string, prefix skydns.Prefix) (entry, bool) {
	e, ok := s.records.find(s.root)
	return e, ok && e.key(prefix) == key
}
