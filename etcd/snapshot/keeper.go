package snapshot

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	clog "github.com/coredns/coredns/plugin/pkg/log"

	"github.com/trident-dns/trident/etcd/mirror"
)

var log = clog.NewWithPlugin("etcd")

// Keeper keeps a file up to date: it writes when there is something new, but not more often than it was told.
type Keeper struct {
	path    string
	every   time.Duration
	state   func() []Section
	written atomic.Int64 // Unix time in nanoseconds of the last write

	cancel context.CancelFunc
	wg     sync.WaitGroup

	// The following belong to the goroutine of run.

	last   map[mirror.Range]written // what the file holds
	failed string                   // the error that was logged last
}

// written is what the file holds of one range.
type written struct {
	at        mirror.Position
	confirmed int64
}

// quiet is how many times as rare it is to write for the sake of revisions alone, which have moved on because of changes
// elsewhere in etcd. With a minute for changes it is before a compaction each five minutes, as Kubernetes has it, would
// make the next start list everything.
const quiet = 4

// Keep starts a keeper. state is called from one goroutine, returns what readers see at that moment, and leaves out a
// range of which nothing is known; what it returns must not change while it is written. It is asked every so often, and
// once more by Close.
func Keep(path string, every time.Duration, state func() []Section) *Keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &Keeper{path: path, every: every, state: state, cancel: cancel}
	k.wg.Go(func() { k.run(ctx) })
	return k
}

// Written is when the file was written last by this keeper, zero when it was not yet.
func (k *Keeper) Written() time.Time {
	if n := k.written.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

// Close writes what is new and ends the keeper. It always returns nil.
func (k *Keeper) Close() error {
	k.cancel()
	k.wg.Wait()
	return nil
}

func (k *Keeper) run(ctx context.Context) {
	tick := time.NewTicker(k.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			k.write(true)
			return
		case <-tick.C:
			k.write(time.Since(k.Written()) >= quiet*k.every)
		}
	}
}

// write writes what is new; late says that it is time also for revisions alone.
func (k *Keeper) write(late bool) {
	sections := k.state()
	if !k.news(sections, late) {
		return
	}
	err := Write(k.path, sections)
	if err != nil {
		// The whole error names a file that is another one each time.
		if cause := innermost(err).Error(); cause != k.failed {
			log.Errorf("Snapshot is not kept up to date: %v", err)
			k.failed = cause
		}
		return
	}
	k.failed = ""
	k.written.Store(time.Now().UnixNano())
	k.last = make(map[mirror.Range]written, len(sections))
	for _, s := range sections {
		k.last[s.Range] = written{s.At, s.confirmed().Revision}
	}
}

func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// news tells whether sections hold anything that was not written. Without a single section there is nothing to write.
func (k *Keeper) news(sections []Section, late bool) bool {
	for _, s := range sections {
		last, ok := k.last[s.Range]
		if !ok || last.at != s.At || late && last.confirmed != s.confirmed().Revision {
			return true
		}
	}
	return false
}
