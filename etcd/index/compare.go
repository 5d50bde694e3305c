package index

import (
	"iter"
	"slices"
	"strings"

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

// keys yields every key but one, valid or not, in byte order, and its revision.
func (s *Snapshot) keys(prefix skydns.Prefix, but string) iter.Seq2[string, int64] {
	type keyAt struct {
		key      string
		revision int64
	}
	return func(yield func(string, int64) bool) {
		// Most keys come in their order. The others are put in theirs.
		var odd []keyAt
		for e := range s.records.all() {
			if raw := e.rawKey(); raw != "" {
				odd = append(odd, keyAt{raw, e.row.revision})
			}
		}
		for e := range s.invalid.all() {
			odd = append(odd, keyAt{e.path, e.row.revision})
		}
		slices.SortFunc(odd, func(a, b keyAt) int { return strings.Compare(a.key, b.key) })
		for e := range s.records.all() {
			if e.rawKey() != "" {
				continue
			}
			key := e.key(prefix)
			for len(odd) > 0 && odd[0].key < key {
				if odd[0].key != but && !yield(odd[0].key, odd[0].revision) {
					return
				}
				odd = odd[1:]
			}
			if key != but && !yield(key, e.row.revision) {
				return
			}
		}
		for _, o := range odd {
			if o.key != but && !yield(o.key, o.revision) {
				return
			}
		}
	}
}
