package index

import (
	"maps"

	"github.com/trident-dns/trident/plugin/backend"
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/mirror"
)

// Snapshot is one state of an Index. It is a backend.Store.
type Snapshot struct {
	root   string // path of the zone
	ready  bool   // the keys below the zone's name were listed
	at     mirror.Position
	apexAt mirror.Position // of the key of the zone's own name

	records tree
	owned   tree // of the records that belong to another name than their own, by that name
	invalid tree // by key
	cuts    map[string]int
	reasons map[skydns.Reason]int
	serials map[string]uint64 // of the zones, by path
}

var _ backend.Store = (*Snapshot)(nil)

// Ascend implements backend.Store.
func (s *Snapshot) Ascend(from string, yield func(path string, r *skydns.Record) bool) {
	if s.records.root != nil {
		s.records.root.ascendPaths(from, yield)
	}
}

// Owned implements backend.Store.
func (s *Snapshot) Owned(path string, yield func(path string, r *skydns.Record) bool) {
	s.owned.ascend(byOwner, path, func(e entry) bool {
		return byOwner(e) == path && yield(e.path, &e.row.Record)
	})
}

// HasCuts implements backend.Store.
func (s *Snapshot) HasCuts() bool { return len(s.cuts) > 0 }

// Cut implements backend.Store.
func (s *Snapshot) Cut(path string) bool { return s.cuts[path] > 0 }

// Serial implements backend.Store: the revision of the last change in the zone that is known of, modulo 2^32 as serials
// count (RFC 1982).
func (s *Snapshot) Serial(zone *backend.Zone) uint32 {
	serial, ok := s.serials[zone.Path]
	if !ok {
		serial = s.serials[s.root]
	}
	return uint32(serial)
}

// Ready tells whether the zone was listed, be it empty.
func (s *Snapshot) Ready() bool { return s.ready }

// HasApex tells whether the key of the zone's own name was looked for.
func (s *Snapshot) HasApex() bool { return s.apexAt.Revision > 0 }

// Position is what the snapshot is a copy of.
func (s *Snapshot) Position() mirror.Position { return s.at }

// Records is the number of keys that are served.
func (s *Snapshot) Records() int { return s.records.n }

// Invalid is the number of keys that cannot be served, by reason.
func (s *Snapshot) Invalid() map[skydns.Reason]int { return maps.Clone(s.reasons) }
