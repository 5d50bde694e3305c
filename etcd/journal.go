package etcd

import (
	"slices"
	"sync"

	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/plugin/backend"

	"github.com/trident-dns/trident/etcd/index"
)

// The bounds of a journal. A state of the past costs what changed after it, some kilobytes in a large zone.
const (
	maxJournal = 1024   // changes
	maxTouched = 50_000 // names of all of them
)

// journals remember changes of zones. A reload goes on with them.
var journals shared.Pool[*journal]

// journal has the states that a zone went through of late, for incremental transfers (RFC 1995).
type journal struct {
	zone *backend.Zone
	stop func()

	mu      sync.Mutex // guards the following
	now     *index.Snapshot
	changes []change // the oldest first
	touched int      // names of all of them
}

// change is a step from one serial to the next.
type change struct {
	before *index.Snapshot
	serial uint32 // before it
	paths  []string
}

func openJournal(x *index.Index, zone *backend.Zone) *journal {
	j := &journal{zone: zone}
	j.stop = x.Listen(j.add)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.now == nil {
		j.now = x.Snapshot()
	}
	return j
}

// Close implements io.Closer.
func (j *journal) Close() error {
	j.stop()
	return nil
}

// add takes in a change.
func (j *journal) add(c index.Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = c.After
	if c.Whole {
		j.changes, j.touched = nil, 0 // who is told nothing transfers all of it
		return
	}
	serial := c.Before.Serial(j.zone)
	if serial == c.After.Serial(j.zone) {
		return
	}
	var paths []string
	for _, path := range c.Touched {
		if backend.IsWithin(path, j.zone.Path) {
			paths = append(paths, path)
		}
	}
	j.changes = append(j.changes, change{c.Before, serial, paths})
	j.touched += len(paths)
	for len(j.changes) > maxJournal || j.touched > maxTouched {
		j.touched -= len(j.changes[0].paths)
		j.changes[0] = change{} // the array behind the slice would keep the state
		j.changes = j.changes[1:]
	}
}

// since returns the state that had the given serial, that of now, and the paths of the names that changed in between. ok
// is false when that is not remembered.
func (j *journal) since(serial uint32) (before, now *index.Snapshot, touched []string, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.changes, func(c change) bool { return c.serial == serial })
	if i < 0 {
		return nil, nil, nil, false
	}
	for _, c := range j.changes[i:] {
		touched = append(touched, c.paths...)
	}
	slices.Sort(touched)
	return j.changes[i].before, j.now, slices.Compact(touched), true
}
