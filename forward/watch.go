package forward

import (
	"context"
	"slices"
	"sync"
	"time"
)

// watchInterval is how often upstream files are read. They are small, and reading them finds every kind of change:
// files that are written in place or replaced, and links that point elsewhere.
const watchInterval = 2 * time.Second

// watch reads the TOs of a block again and again, as long as one of them is a file. The zero watch watches nothing.
type watch struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// start begins to watch the TOs of b. adopt gets what they stand for after each change.
func (w *watch) start(b *block, adopt func([]endpoint) error) {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.ended.Go(func() {
		ticks := time.NewTicker(watchInterval)
		defer ticks.Stop()
		seen := sighting{current: b.to}
		for failing := false; ; {
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return
			}
			read, err := destinations(b.watched)
			if err == nil && seen.changed(read.list) {
				log.Infof("Upstream files have changed: %d destinations", len(read.list))
				err = adopt(read.list)
			}
			if err != nil {
				fileFailureCount.Inc()
				if !failing {
					log.Warningf("Upstreams stay as they were: %v", err)
				}
			}
			failing = err != nil
		}
	})
}

// stop ends the watch and waits for its end.
func (w *watch) stop() {
	if w.cancel != nil {
		w.cancel()
		w.ended.Wait()
	}
}

// sighting believes in a change when it is seen twice: what is seen once may be a file that is being written.
type sighting struct{ current, candidate []endpoint }

// changed tells whether to is to replace what is current, and takes it to have done so.
func (s *sighting) changed(to []endpoint) bool {
	if slices.Equal(to, s.current) {
		s.candidate = nil
		return false
	}
	if !slices.Equal(to, s.candidate) {
		s.candidate = to
		return false
	}
	s.current, s.candidate = to, nil
	return true
}
