package index

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/mirror"
)

// keyed is an entry with its key in etcd.
type keyed struct {
	key string
	entry
	bad bool // of the tree of keys that cannot be served
}

// inOrder yields every key, whether it is served or not, in byte order.
func (s *Snapshot) inOrder(prefix skydns.Prefix) iter.Seq[keyed] {
	return func(yield func(keyed) bool) {
		// Most keys come in their order. The others are put in theirs.
		var odd []keyed
		for e := range s.records.all() {
			if raw := e.rawKey(); raw != "" {
				odd = append(odd, keyed{raw, e, false})
			}
		}
		for e := range s.invalid.all() {
			odd = append(odd, keyed{e.path, e, true})
		}
		slices.SortFunc(odd, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
		for e := range s.records.all() {
			if e.rawKey() != "" {
				continue
			}
			k := keyed{e.key(prefix), e, false}
			for len(odd) > 0 && odd[0].key < k.key {
				if !yield(odd[0]) {
					return
				}
				odd = odd[1:]
			}
			if !yield(k) {
				return
			}
		}
		for _, k := range odd {
			if !yield(k) {
				return
			}
		}
	}
}

// Content is what an index holds of the keys of one of its sinks.
type Content struct {
	At  mirror.Position
	KVs iter.Seq[mirror.KV] // in byte order; does not change
}

// Content returns what is held now for the sinks Zone and Apex. The values are written anew: they mean the same as
// those in etcd, and need not look the same. ok tells whether the zone was listed.
func (x *Index) Content() (zone, apex Content, ok bool) {
	s := x.Snapshot()
	of := func(wantApex bool) iter.Seq[mirror.KV] {
		return func(yield func(mirror.KV) bool) {
			for k := range s.inOrder(x.prefix) {
				if (k.key == x.apexKey()) == wantApex && !yield(k.kv()) {
					return
				}
			}
		}
	}
	return Content{s.at, of(false)}, Content{s.apexAt, of(true)}, s.ready
}

// kv makes the key and a value again.
func (k keyed) kv() mirror.KV {
	kv := mirror.KV{Key: k.key, ModRevision: k.row.revision}
	if k.bad {
		_, value := k.invalid()
		kv.Value = []byte(value)
		return kv
	}
	kv.Lease = k.row.Lease()
	kv.Value, _ = json.Marshal(k.row.Value()) // strings and numbers always can be
	return kv
}
