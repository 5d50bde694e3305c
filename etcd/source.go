package etcd

import (
	"strings"
	"time"

	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/plugin/backend"
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/index"
	"github.com/trident-dns/trident/etcd/mirror"
)

// What outlives one configuration. A reload that names the same cluster and zones goes on with what is known of them.
var (
	mirrors shared.Pool[*mirror.Mirror]
	sources shared.Pool[*source]
)

// source is the records of one zone, and of those of a block that lie below it, kept in step with etcd.
type source struct {
	zone   *backend.Zone
	prefix skydns.Prefix
	index  *index.Index
	keys   *mirror.Feed // those below the zone's name
	apex   *mirror.Feed // the one of the zone's name itself; nil for the root
	status func() mirror.Status
	loaded time.Time // of the snapshot on disk that it began with
}

// openSource begins to copy a zone, from what a snapshot has of it. It does not wait for etcd.
func openSource(m *mirror.Mirror, prefix skydns.Prefix, zone *backend.Zone, d disk) *source {
	s := &source{zone: zone, prefix: prefix, index: index.New(prefix, zone.Path, logBad), loaded: d.loaded}
	s.keys = d.subscribe(m, s.below(), s.index.Zone())
	s.status = s.keys.Status
	if key, ok := s.apexKey(); ok {
		// A feed of its own: rights on the zone need not include this key.
		s.apex = d.subscribe(m, mirror.Single(key), s.index.Apex())
	}
	live.add(s)
	return s
}

// apexKey is the key of the zone's own name. The root has none.
func (s *source) apexKey() (string, bool) {
	return string(s.prefix) + "/" + s.zone.Path, s.zone.Path != ""
}

// below is the range of all other keys of the zone.
func (s *source) below() mirror.Range {
	key, _ := s.apexKey()
	return mirror.Prefix(strings.TrimSuffix(key, "/") + "/")
}

// Close ends the copying. What is known stays, and is told until the server has stopped.
func (s *source) Close() error {
	live.remove(s)
	s.keys.Close()
	if s.apex != nil {
		s.apex.Close()
	}
	return nil
}

// complete tells whether all that the zone has is known: keys and the one of its own name come one after the other, and
// without a change of the serial at first. One that may not be read is none.
func (s *source) complete() bool {
	snap := s.index.Snapshot()
	return snap.Ready() && (s.apex == nil || snap.HasApex() || s.apex.Status().Err != nil)
}

// trust tells how far what is known may be told now.
func (s *source) trust(now time.Time, maxStale time.Duration) trust {
	return judge(s.index.Snapshot().Ready(), s.status(), s.loaded, now, maxStale)
}

// maxBadLogged is how many bad keys of one list or change are logged; the rest is counted.
const maxBadLogged = 10

func logBad(bad []index.Bad) {
	for i, b := range bad {
		if i == maxBadLogged {
			log.Warningf("%d more keys cannot be served", len(bad)-i)
			return
		}
		log.Warningf("Key %s of revision %d cannot be served: %v", b.Key, b.Revision, b.Err)
	}
}
