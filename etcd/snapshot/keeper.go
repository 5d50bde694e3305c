package snapshot

import (
	"context"
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
	state   func() []Section
	written atomic.Int64 // Unix time in nanoseconds of the last write

	cancel context.CancelFunc
	wg     sync.WaitGroup

	// The following belong to the goroutine of run.

	last   map[mirror.Range]mirror.Position // what the file holds
	failed string                           // the error that was logged last
}

// Keep starts a keeper. state is called from one goroutine, returns what readers see at that moment, and leaves out a
// range of which nothing is known; what it returns must not change while it is written. It is asked every so often, and
// once more by Close.
func Keep(path string, every time.Duration, state func() []Section) *Keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &Keeper{path: path, state: state, cancel: cancel}
	k.wg.Go(func() { k.run(ctx, every) })
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

func (k *Keeper) run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			k.write()
			return
		case <-tick.C:
			k.write()
		}
	}
}

func (k *Keeper) write() {
	sections := k.state()
	if !k.news(sections) {
		return
	}
	err := Write(k.path, sections)
	if err != nil {
		if err.Error() != k.failed {
			log.Errorf("Snapshot is not kept up to date: %v", err)
			k.failed = err.Error()
		}
		return
	}
	k.failed = ""
	k.written.Store(time.Now().UnixNano())
	k.last = make(map[mirror.Range]mirror.Position, len(sections))
	for _, s := range sections {
		k.last[s.Range] = s.At
	}
}

// news tells whether sections hold anything that was not written. Without a single section there is nothing to write.
func (k *Keeper) news(sections []Section) bool {
	for _, s := range sections {
		if last, ok := k.last[s.Range]; !ok || last != s.At {
			return true
		}
	}
	return false
}
