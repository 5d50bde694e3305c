package etcd

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/mirror"
	"github.com/trident-dns/trident/etcd/relay"
)

// fleets are the configurations in etcd that blocks follow.
var fleets shared.Pool[*fleet]

// fleet is the configuration in etcd that servers share, kept in step with it. It is a mirror.Sink.
type fleet struct {
	key   string
	feed  *mirror.Feed
	state atomic.Pointer[fleetState] // never nil

	mu        sync.Mutex // guards the following
	kv        *mirror.KV // as it is in etcd, nil when there is none
	at        mirror.Position
	listeners map[*fleetListener]struct{}
}

// fleetListener is told each new state. first tells that it is what the servers began with, and revision where it is from.
type fleetListener func(s *fleetState, revision int64, first bool)

// fleetState is a state of it. It does not change.
type fleetState struct {
	fleetConfig
	servers *relay.Group // nil without nameservers
	owner   *shared.Owner
}

// openFleet begins to follow the object below prefix, from what a snapshot has of it. It does not wait for etcd.
func openFleet(m *mirror.Mirror, prefix skydns.Prefix, d disk) *fleet {
	f := &fleet{key: string(prefix) + "/config", listeners: map[*fleetListener]struct{}{}}
	f.state.Store(&fleetState{owner: shared.New()})
	f.feed = d.subscribe(m, f.keys(), f)
	return f
}

func (f *fleet) keys() mirror.Range { return mirror.Single(f.key) }

// Close ends the following. What is known stays.
func (f *fleet) Close() error {
	f.feed.Close()
	f.state.Load().owner.Release()
	return nil
}

// Reset implements mirror.Sink.
func (f *fleet) Reset(at mirror.Position, kvs iter.Seq2[mirror.KV, error]) {
	var now *mirror.KV
	for kv, err := range kvs {
		if err != nil {
			return
		}
		now = &kv
	}
	f.set(at, now)
}

// Apply implements mirror.Sink.
func (f *fleet) Apply(at mirror.Position, puts []mirror.KV, _ []string) {
	if len(puts) == 0 {
		f.set(at, nil)
		return
	}
	f.set(at, &puts[len(puts)-1])
}

// set takes over a value. One that is no object leaves what is known in force.
func (f *fleet) set(at mirror.Position, kv *mirror.KV) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first, same := f.at.Revision == 0, sameValue(f.kv, kv)
	f.at, f.kv = at, kv
	if same {
		return
	}
	var c fleetConfig
	if kv != nil {
		var bad map[string]error
		var err error
		if c, bad, err = readFleet(kv.Value); err != nil {
			log.Errorf("Key %s of revision %d stays without effect: %v", f.key, kv.ModRevision, err)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(bad)) {
			log.Warningf("Key %s: %q %v", f.key, name, bad[name])
		}
	}
	old := f.state.Load()
	next := &fleetState{fleetConfig: c, owner: shared.New()}
	if len(c.nameservers) > 0 {
		var err error
		if next.servers, err = relay.Open(next.owner, pluginName, c.nameservers); err != nil {
			log.Errorf("Key %s: nameservers: %v", f.key, err)
		}
	}
	f.state.Store(next)
	old.owner.Release() // after the new one has acquired what stays
	log.Infof("Key %s of revision %d is in force", f.key, at.Revision)
	for tell := range f.listeners {
		(*tell)(next, at.Revision, first)
	}
}

func sameValue(a, b *mirror.KV) bool {
	if a == nil || b == nil {
		return a == b
	}
	return string(a.Value) == string(b.Value)
}

// listen has tell called with the state of now, if it is known, and with each that follows, until stop is called.
func (f *fleet) listen(tell fleetListener) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners[&tell] = struct{}{}
	if f.kv != nil {
		tell(f.state.Load(), f.at.Revision, true)
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, &tell)
	}
}

// content is what a snapshot on disk keeps; ok tells whether anything is known.
func (f *fleet) content() (at mirror.Position, kvs iter.Seq[mirror.KV], ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []mirror.KV
	if f.kv != nil {
		all = append(all, *f.kv)
	}
	return f.at, slices.Values(all), f.at.Revision > 0
}
