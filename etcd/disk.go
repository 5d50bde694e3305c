package etcd

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coredns/caddy"

	"github.com/trident-dns/trident/internal/shared"

	"github.com/trident-dns/trident/etcd/mirror"
	"github.com/trident-dns/trident/etcd/snapshot"
)

// snapshotEvery is how often a snapshot that is out of date is written. What it lacks is asked of etcd at the next start,
// as far as etcd has not compacted it: five minutes of history are usual.
const snapshotEvery = time.Minute

// keepers write snapshots. One is shared by the configurations that write the same zones to the same file.
var keepers shared.Pool[*keeper]

// keeper is a snapshot on disk of some sources.
type keeper struct {
	*snapshot.Keeper
	sources []*source
	fleet   *fleet // may be nil
}

// acquireKeeper keeps a snapshot of the sources of a block in cfg.snapshot.
func acquireKeeper(owner *shared.Owner, cfg *config, key string, sources []*source, f *fleet) error {
	_, err := keepers.Acquire(owner, cfg.snapshot+" "+key, func() (*keeper, error) {
		k := &keeper{sources: sources, fleet: f}
		k.Keeper = snapshot.Keep(cfg.snapshot, snapshotEvery, k.sections)
		live.addKeeper(k, cfg.snapshot)
		return k, nil
	})
	return err
}

// Close writes what is new.
func (k *keeper) Close() error {
	live.removeKeeper(k)
	return k.Keeper.Close()
}

func (k *keeper) sections() []snapshot.Section {
	var all []snapshot.Section
	for _, s := range k.sources {
		// In this order: what the feeds have told was applied before.
		keysAt, apexAt := s.keys.Status().Position, mirror.Position{}
		if s.apex != nil {
			apexAt = s.apex.Status().Position
		}
		zone, apex, ok := s.index.Content()
		if !ok {
			continue
		}
		all = append(all, snapshot.Section{
			Range: s.below(), At: zone.At, Confirmed: confirmed(zone.At, keysAt), KVs: zone.KVs,
		})
		if key, ok := s.apexKey(); ok && apex.At.Revision > 0 {
			all = append(all, snapshot.Section{
				Range: mirror.Single(key), At: apex.At, Confirmed: confirmed(apex.At, apexAt), KVs: apex.KVs,
			})
		}
	}
	if k.fleet != nil {
		fleetAt := k.fleet.feed.Status().Position
		if at, kvs, ok := k.fleet.content(); ok {
			all = append(all, snapshot.Section{
				Range: k.fleet.keys(), At: at, Confirmed: confirmed(at, fleetAt), KVs: kvs,
			})
		}
	}
	return all
}

// confirmed is the revision up to which content as of at is right, by what a feed told before the content was taken.
func confirmed(at, told mirror.Position) int64 {
	sameHistory := at.ClusterID == told.ClusterID && (at.Began == told.Began || at.Began == 0)
	if !sameHistory {
		return at.Revision
	}
	return max(at.Revision, told.Revision)
}

// disk is a snapshot to begin from. The zero value has nothing.
type disk struct {
	file   *snapshot.File
	loaded time.Time
}

// openDisk opens the snapshot of an earlier process. Whatever is wrong with it is logged, and the zones then come from
// etcd alone.
func openDisk(path string) disk {
	if path == "" {
		return disk{}
	}
	f, err := snapshot.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return disk{}
	case errors.Is(err, snapshot.ErrDamaged):
		aside, renameErr := snapshot.SetAside(path)
		log.Errorf("Snapshot is of no use, kept as %s: %v", aside, errors.Join(err, renameErr))
		return disk{}
	case err != nil:
		log.Errorf("Snapshot is of no use: %v", err)
		return disk{}
	}
	d := disk{file: f}
	if info, err := os.Stat(path); err == nil {
		d.loaded = info.ModTime()
	}
	return d
}

func (d disk) close() {
	if d.file != nil {
		_ = d.file.Close() // was only read
	}
}

// subscribe copies a range into a sink, beginning with the section that there is of it.
func (d disk) subscribe(m *mirror.Mirror, r mirror.Range, sink mirror.Sink) *mirror.Feed {
	known, confirmed := d.fill(r, sink, m.Leases().Want)
	return m.Resume(r, sink, known, confirmed)
}

// fill fills a sink with the section of a range, and returns what is then known, and up to which revision it is right:
// nothing when there is none. Each lease is told to seen.
func (d disk) fill(r mirror.Range, sink mirror.Sink, seen func(lease int64)) (mirror.Position, int64) {
	if d.file == nil {
		return mirror.Position{}, 0
	}
	i := slices.IndexFunc(d.file.Sections, func(s snapshot.Section) bool { return s.Range == r })
	if i < 0 {
		return mirror.Position{}, 0
	}
	s := d.file.Sections[i]
	sink.Reset(s.At, withoutErrors(s.KVs, seen))
	log.Infof("Serving %s as it was at revision %d, %d keys, from a snapshot of %s",
		r, s.At.Revision, s.At.Keys, d.loaded.Format(time.RFC3339))
	return s.At, s.Confirmed
}

func withoutErrors(kvs iter.Seq[mirror.KV], seen func(lease int64)) iter.Seq2[mirror.KV, error] {
	return func(yield func(mirror.KV, error) bool) {
		for kv := range kvs {
			if kv.Lease != 0 {
				seen(kv.Lease)
			}
			if !yield(kv, nil) {
				return
			}
		}
	}
}

// filesOf remembers the snapshots of one configuration.
type filesOf struct{}

// claim keeps two blocks of one configuration from writing the same file.
func claim(c *caddy.Controller, file string) error {
	files, _ := c.Get(filesOf{}).(map[string]bool)
	if files == nil {
		files = map[string]bool{}
		c.Set(filesOf{}, files)
	}
	if files[file] {
		return fmt.Errorf("snapshot: another block writes %s, want a file of its own", strings.TrimSpace(file))
	}
	files[file] = true
	return nil
}
