package index

import (
	"maps"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/etcd/mirror"
)

// change is a snapshot in the making.
type change struct {
	Snapshot
	prefix  skydns.Prefix
	records *edit
	owned   *edit
	invalid *edit
	ownCuts bool     // cuts is a copy
	touched []string // paths of names whose records are not what they were
	bad     []Bad    // keys that were found to be bad just now
}

// Bad is a key that cannot be served.
type Bad struct {
	Key      string
	Revision int64
	Err      error // wraps a skydns.Reason
}

func (s *Snapshot) change(prefix skydns.Prefix) *change {
	c := &change{
		Snapshot: *s, prefix: prefix,
		records: &edit{order: byPath}, owned: &edit{order: byOwner}, invalid: &edit{order: byPath},
	}
	c.reasons = maps.Clone(s.reasons)
	if c.reasons == nil {
		c.reasons = map[skydns.Reason]int{}
	}
	return c
}

// parse reads a key. When it cannot be served the error says why.
func parse(prefix skydns.Prefix, kv mirror.KV) (entry, error) {
	path, err := prefix.Path(kv.Key)
	if err != nil {
		return entry{}, err
	}
	r, err := skydns.Parse(kv.Value, kv.Lease)
	if err != nil {
		return entry{}, err
	}
	return entry{path, &row{Record: *r, revision: kv.ModRevision, raw: rawOf(prefix, kv.Key, path)}}, nil
}

// rawOf returns the key when it is not the one that path makes, which need not be kept.
func rawOf(prefix skydns.Prefix, key, path string) *string {
	if len(key) == len(prefix)+1+len(path) && key[len(prefix)+1:] == path {
		return nil
	}
	raw := key // a parameter whose address is taken would be on the heap for every key
	return &raw
}

// put takes in a key with its value, in place of what it had before.
func (c *change) put(kv mirror.KV) {
	e, err := parse(c.prefix, kv)
	if err != nil {
		c.remove(kv.Key)
		c.addInvalid(kv, err)
		return
	}
	c.removeInvalid(kv.Key)
	c.add(e)
}

func (c *change) add(e entry) {
	var old entry
	c.Snapshot.records, old = c.Snapshot.records.put(c.records, e)
	if old.row == nil || !old.row.Same(&e.row.Record) {
		c.touched = append(c.touched, e.path)
	}
	c.unlink(old)
	c.link(e)
}

// remove takes away a key.
func (c *change) remove(key string) {
	c.removeInvalid(key)
	path, err := c.prefix.Path(key)
	if err != nil {
		return
	}
	var old entry
	c.Snapshot.records, old = c.Snapshot.records.remove(c.records, entry{path, &row{raw: rawOf(c.prefix, key, path)}})
	if old.row == nil {
		return
	}
	c.touched = append(c.touched, path)
	c.unlink(old)
}

// link adds a record to what is kept beside the records.
func (c *change) link(e entry) {
	if byOwner(e) != e.path {
		c.Snapshot.owned, _ = c.Snapshot.owned.put(c.owned, e)
	}
	if isNS(e.row) {
		c.countCut(byOwner(e), 1)
	}
}

func (c *change) unlink(e entry) {
	if e.row == nil {
		return
	}
	if byOwner(e) != e.path {
		c.Snapshot.owned, _ = c.Snapshot.owned.remove(c.owned, e)
	}
	if isNS(e.row) {
		c.countCut(byOwner(e), -1)
	}
}

// countCut changes the number of records of type NS of a name, in a map that is copied for the first of them.
func (c *change) countCut(path string, n int) {
	if !c.ownCuts {
		c.cuts, c.ownCuts = maps.Clone(c.cuts), true
	}
	if c.cuts == nil {
		c.cuts = map[string]int{}
	}
	if c.cuts[path] += n; c.cuts[path] == 0 {
		delete(c.cuts, path)
	}
}

func isNS(r *row) bool {
	rr := r.RR()
	return rr != nil && rr.Header().Rrtype == dns.TypeNS
}

// addInvalid keeps a key that cannot be served, for the count and for an audit, in place of what was kept of it.
func (c *change) addInvalid(kv mirror.KV, err error) {
	c.removeInvalid(kv.Key)
	c.keepInvalid(invalidEntry(kv, skydns.ReasonOf(err)))
	c.bad = append(c.bad, Bad{Key: kv.Key, Revision: kv.ModRevision, Err: err})
}

func (c *change) keepInvalid(e entry) {
	c.Snapshot.invalid, _ = c.Snapshot.invalid.put(c.invalid, e)
	reason, _ := e.invalid()
	c.reasons[reason]++
}

func (c *change) removeInvalid(key string) {
	old, ok := c.Snapshot.invalid.find(key)
	if !ok {
		return
	}
	c.Snapshot.invalid, _ = c.Snapshot.invalid.remove(c.invalid, old)
	reason, _ := old.invalid()
	if c.reasons[reason]--; c.reasons[reason] == 0 {
		delete(c.reasons, reason)
	}
}

// find returns the first entry at path.
func (t tree) find(path string) (found entry, ok bool) {
	t.ascend(byPath, path, func(e entry) bool {
		found, ok = e, e.path == path
		return false
	})
	return found, ok
}
