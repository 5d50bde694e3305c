package index

import (
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/mirror"
)

// entry is a key of etcd with what it says. It is kept by value in the nodes of a tree, and is 24 bytes.
type entry struct {
	path string // of the name, shares memory with the key where the two are written the same
	row  *row   // nil in an entry that is searched for by path
}

// row is what entry points to. With 64 bytes it fills a size class of the allocator.
type row struct {
	skydns.Record
	revision int64   // of the last change of the key
	raw      *string // the key, when it is not the one that the path makes
}

// rawKey tells keys of the same path apart. The one that is written as its path is the first of them.
func (e entry) rawKey() string {
	if e.row == nil || e.row.raw == nil {
		return ""
	}
	return *e.row.raw
}

// key returns the key of etcd.
func (e entry) key(prefix skydns.Prefix) string {
	if raw := e.rawKey(); raw != "" {
		return raw
	}
	return string(prefix) + "/" + e.path
}

// byPath is the order of the records.
func byPath(e entry) string { return e.path }

// byOwner is the order of the records with a targetstrip, by the path that is left of theirs.
func byOwner(e entry) string { return skydns.StripPath(e.path, e.row.Strip()) }

// maxInvalid is how much of a value that cannot be served is kept, in bytes. What is longer was hardly meant as a record,
// and is kept as an empty value, which cannot be served either.
const maxInvalid = 1 << 10

// invalidEntry is an entry of the tree of keys that cannot be served: its path is the key, and raw the reason and the
// value.
func invalidEntry(kv mirror.KV, reason skydns.Reason) entry {
	value := kv.Value
	if len(value) > maxInvalid {
		value = nil
	}
	raw := string(reason) + "\x00" + string(value)
	return entry{kv.Key, &row{revision: kv.ModRevision, raw: &raw}}
}

// invalid returns what invalidEntry keeps.
func (e entry) invalid() (skydns.Reason, string) {
	reason, value, _ := strings.Cut(*e.row.raw, "\x00")
	return skydns.Reason(reason), value
}
