package index

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/mirror"
)

// Index is what is known of one zone. Its methods may be called from any goroutine.
type Index struct {
	prefix skydns.Prefix
	root   string // path of the zone
	onBad  func([]Bad)
	snap   atomic.Pointer[Snapshot] // never nil

	mu    sync.Mutex // held to replace snap
	zones []string   // paths of the zones whose serials are kept: the root and some below

	listeners []*listener
}

// New returns an empty index of the zone with this path. onBad is told the keys that cannot be served, each time that
// they change; it may be nil, and must not block.
func New(prefix skydns.Prefix, root string, onBad func([]Bad)) *Index {
	if onBad == nil {
		onBad = func([]Bad) {}
	}
	x := &Index{prefix: prefix, root: root, onBad: onBad, zones: []string{root}}
	x.snap.Store(&Snapshot{root: root})
	return x
}

// Snapshot is the state of now.
func (x *Index) Snapshot() *Snapshot { return x.snap.Load() }

// Track keeps a serial for a zone below the root as well. Until something changes there it is that of the root.
func (x *Index) Track(path string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.Contains(x.zones, path) {
		return
	}
	x.zones = append(x.zones, path)
	c := x.Snapshot().change(x.prefix)
	if serial, ok := c.serials[c.root]; ok {
		c.setSerials(map[string]uint64{path: serial})
	}
	x.snap.Store(&c.Snapshot)
}

// Zone returns the sink for the keys below the zone, Apex the one for the single key of the zone's own name. Only the
// first makes the index ready.
func (x *Index) Zone() mirror.Viewer { return zoneSink{x} }

// Apex is described at Zone.
func (x *Index) Apex() mirror.Sink { return apexSink{x} }

// apexKey is the key that the apex sink is for.
func (x *Index) apexKey() string { return string(x.prefix) + "/" + x.root }

type zoneSink struct{ x *Index }

// Reset implements mirror.Sink.
func (z zoneSink) Reset(at mirror.Position, kvs iter.Seq2[mirror.KV, error]) {
	x := z.x
	// The list comes at the pace of etcd, and only this goroutine writes but for the apex: no lock while it does.
	empty := Snapshot{root: x.root, at: at, ready: true}
	c := empty.change(x.prefix)
	b := bulk{edit: c.records}
	known := x.Snapshot().invalid
	for kv, err := range kvs {
		if err != nil {
			return
		}
		e, err := parse(x.prefix, kv)
		if err != nil {
			c.addInvalid(kv, err)
			if old, ok := known.find(kv.Key); ok && old.row.revision == kv.ModRevision {
				c.bad = c.bad[:len(c.bad)-1] // told already
			}
			continue
		}
		b.add(e)
		c.link(e)
	}
	c.Snapshot.records = b.tree()

	x.mu.Lock()
	defer x.mu.Unlock()
	old := x.Snapshot()
	if apex, ok := old.apex(x.apexKey(), x.prefix); ok {
		c.add(apex)
	}
	if apex, ok := old.invalid.find(x.apexKey()); ok {
		c.keepInvalid(apex)
	}
	c.serials, c.apexAt = old.serials, old.apexAt
	if !old.ready {
		c.touched = x.zones
	} else {
		c.touched = differences(old.records, c.Snapshot.records)
	}
	x.publish(c, at, true)
}

// Apply implements mirror.Sink.
func (z zoneSink) Apply(at mirror.Position, puts []mirror.KV, deletes []string) {
	z.x.apply(at, puts, deletes, func(c *change) { c.at = at })
}

// View implements mirror.Viewer.
func (z zoneSink) View() (mirror.Position, iter.Seq2[string, int64]) {
	s := z.x.Snapshot()
	return s.at, func(yield func(string, int64) bool) {
		for k := range s.inOrder(z.x.prefix) {
			if k.key != z.x.apexKey() && !yield(k.key, k.row.revision) {
				return
			}
		}
	}
}

type apexSink struct{ x *Index }

// Reset implements mirror.Sink.
func (a apexSink) Reset(at mirror.Position, kvs iter.Seq2[mirror.KV, error]) {
	var puts []mirror.KV
	for kv, err := range kvs {
		if err != nil {
			return
		}
		puts = append(puts, kv)
	}
	var deletes []string
	if len(puts) == 0 {
		deletes = []string{a.x.apexKey()}
	}
	a.x.apply(at, puts, deletes, func(c *change) {
		if c.apexAt.Revision == 0 {
			c.touched = nil // the zone is still being loaded, and its serial is that of the list
		}
		c.apexAt = at
	})
}

// Apply implements mirror.Sink.
func (a apexSink) Apply(at mirror.Position, puts []mirror.KV, deletes []string) {
	a.x.apply(at, puts, deletes, func(c *change) { c.apexAt = at })
}

func (x *Index) apply(at mirror.Position, puts []mirror.KV, deletes []string, placed func(*change)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.Snapshot().change(x.prefix)
	for _, key := range deletes {
		c.remove(key)
	}
	for _, kv := range puts {
		c.put(kv)
	}
	placed(c)
	x.publish(c, at, false)
}

// publish makes a change the state of now. whole tells that it replaces everything. The caller holds mu.
func (x *Index) publish(c *change, at mirror.Position, whole bool) {
	c.setSerials(nextSerials(c.serials, x.zones, c.touched, at.Revision))
	before := x.Snapshot()
	x.snap.Store(&c.Snapshot)
	for _, l := range x.listeners {
		l.tell(Change{Before: before, After: &c.Snapshot, Touched: c.touched, Whole: whole})
	}
	if len(c.bad) > 0 {
		x.onBad(c.bad)
	}
}
