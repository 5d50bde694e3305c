package forward

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trident-dns/trident/internal/shared"
)

// rosters and followers are shared by everything that asks for the same, which keeps them warm over a reload, and closed
// with the last configuration that does.
var (
	rosters   shared.Pool[*roster]
	followers shared.Pool[*follower]
)

// maxWaiting bounds the questions of a block that wait for the first look-up of its host names. They hold a goroutine
// each, and a resolver that does not answer would make them as many as arrive in the meantime.
const maxWaiting = 1000

// roster keeps the lineup of a block true while its host names move and its files change.
type roster struct {
	block   *block
	current atomic.Pointer[lineup]

	// settled is closed when there is an upstream, or when every host name has been looked up once.
	settled chan struct{}
	once    sync.Once
	waiting atomic.Int64

	watch  watch
	scouts scouts

	mu     sync.Mutex // one rebuild at a time; guards the following
	closed bool
	to     []endpoint           // what TO stands for now
	hosts  map[string]*follower // of the host names in to
	owner  *shared.Owner        // holds the followers
}

// rosterKey identifies the upstreams of b: blocks with equal keys share a roster.
func rosterKey(b *block) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%q\n", b.watched)
	for _, e := range b.to {
		fmt.Fprintf(&key, "%s %s\n", e, b.config(e, netip.AddrPortFrom(e.addr, e.port)).Key())
	}
	fmt.Fprintf(&key, "%v %t %s %v", b.resolvers, b.ownResolvers, b.source, b.pace)
	return key.String()
}

// openRoster acquires the upstreams of b whose addresses are known, and begins to look up the others and to watch the
// files. It waits for neither.
func openRoster(b *block) (*roster, error) {
	r := &roster{block: b, owner: shared.New(), settled: make(chan struct{})}
	if err := r.adopt(b.to); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if len(b.watched) > 0 {
		r.watch.start(b, r.adopt)
	}
	return r, nil
}

// adopt makes to what the roster follows. On an error everything stays as it was.
func (r *roster) adopt(to []endpoint) error {
	owner, hosts := shared.New(), make(map[string]*follower)
	for _, e := range to {
		if e.host == "" || hosts[e.host] != nil {
			continue
		}
		f, err := followers.Acquire(owner, followerKey(r.block, e.host), func() (*follower, error) {
			return openFollower(e.host, newLookup(r.block), r.block.pace), nil
		})
		if err != nil {
			owner.Release()
			return err
		}
		hosts[e.host] = f
	}

	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		owner.Release()
		return nil
	}
	oldTo, oldHosts, oldOwner := r.to, r.hosts, r.owner
	r.to, r.hosts, r.owner = to, hosts, owner
	err := r.rebuildLocked()
	if err != nil {
		r.to, r.hosts, r.owner = oldTo, oldHosts, oldOwner
		r.mu.Unlock()
		owner.Release()
		return err
	}
	r.mu.Unlock()

	for host, f := range oldHosts {
		if hosts[host] == nil {
			f.unsubscribe(r)
		}
	}
	for _, f := range hosts {
		f.subscribe(r, r.follow)
	}
	oldOwner.Release()
	r.follow() // what was found between the rebuild and the subscription
	return nil
}

// follow rebuilds the lineup after a look-up.
func (r *roster) follow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if err := r.rebuildLocked(); err != nil {
		log.Errorf("Upstreams stay as they were: %v", err)
	}
}

// rebuildLocked makes a lineup of what is known now and puts it in place of the present one. The lock is held.
func (r *roster) rebuildLocked() error {
	l, left, err := newLineup(r.block, r.to, func(host string) []netip.Addr { return r.hosts[host].addrs() })
	if err != nil {
		return err
	}
	if left > 0 {
		log.Warningf("%d upstreams are left out: a block has at most %d", left, maxUpstreams)
	}
	if old := r.current.Swap(l); old != nil {
		old.owner.Release() // after the new one has acquired what stays
	}
	if len(l.members) > 0 || r.allTried() {
		r.once.Do(func() { close(r.settled) })
	}
	return nil
}

// allTried tells whether each host name has been looked up, well or not. The lock is held.
func (r *roster) allTried() bool {
	for _, f := range r.hosts {
		if !f.tried() {
			return false
		}
	}
	return true
}

// members returns the upstreams. When there are none yet, it waits for the first look-up of the host names to end, until
// the deadline at most.
func (r *roster) members(ctx context.Context, deadline time.Time) []*member {
	l := r.current.Load()
	if len(l.members) > 0 {
		return l.members
	}
	defer r.waiting.Add(-1)
	if r.waiting.Add(1) > maxWaiting {
		waitingRejectCount.Inc()
	} else {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		select {
		case <-r.settled:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return r.current.Load().members
}

// Close ends the look-ups and the watch. What is known stays, and so do the upstreams' ways of being asked.
func (r *roster) Close() error {
	r.watch.stop()
	r.scouts.close()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.once.Do(func() { close(r.settled) })
	for _, f := range r.hosts { // nobody changes them any more
		f.unsubscribe(r)
	}
	r.owner.Release()
	if l := r.current.Load(); l != nil {
		l.owner.Release()
	}
	return nil
}
