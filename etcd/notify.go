package etcd

import (
	"context"
	"time"

	"github.com/trident-dns/trident/etcd/index"
)

// notifyEvery is how often the secondaries of a zone are told of changes (RFC 1996). The first change is told at once.
const notifyEvery = 5 * time.Second

// notifyPatience is how long the end of a configuration waits for a notification that is under way. The transfer plugin
// gives each secondary three times two seconds and cannot be told to stop; what is left of that ends by itself.
const notifyPatience = time.Second

// notifier tells secondaries of new serials.
type notifier struct {
	notify func(zone string) error
	zones  []*served

	wake   chan struct{} // holds one value while there may be news
	cancel context.CancelFunc
	ended  chan struct{} // closed when the goroutine has ended
	stop   []func()

	// The following belong to the goroutine.

	told   map[*served]uint32
	failed map[*served]string // as it was logged
}

// openNotifier begins to tell the secondaries of zones, by notify.
func openNotifier(notify func(zone string) error, zones []*served) *notifier {
	n := &notifier{
		notify: notify, zones: zones, wake: make(chan struct{}, 1),
		told: map[*served]uint32{}, failed: map[*served]string{},
	}
	for _, z := range zones {
		n.stop = append(n.stop, z.source.index.Listen(func(index.Change) { n.poke() }))
	}
	n.poke()
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	n.ended = make(chan struct{})
	go func() {
		defer close(n.ended)
		n.run(ctx)
	}()
	return n
}

func (n *notifier) poke() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Close ends the notifier.
func (n *notifier) Close() error {
	for _, stop := range n.stop {
		stop()
	}
	n.cancel()
	select {
	case <-n.ended:
	case <-time.After(notifyPatience):
	}
	return nil
}

func (n *notifier) run(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		}
		for _, z := range n.zones {
			if ctx.Err() != nil {
				return
			}
			n.tell(z)
		}
		pause.Reset(notifyEvery)
	}
}

// tell tells of a zone when its serial is new and it can be transferred.
func (n *notifier) tell(z *served) {
	state := z.source.index.Snapshot()
	serial := state.Serial(z.Zone)
	if told, ok := n.told[z]; ok && told == serial || !z.source.complete() {
		return
	}
	n.told[z] = serial
	failed := ""
	if err := n.notify(z.Name); err != nil {
		failed = err.Error()
		notifies.WithLabelValues(z.Name, "failed").Inc()
	} else {
		notifies.WithLabelValues(z.Name, "accepted").Inc()
	}
	if failed != "" && failed != n.failed[z] {
		log.Warningf("Secondaries of %s learn of changes when they ask: %s", z.Name, failed)
	}
	n.failed[z] = failed
}
