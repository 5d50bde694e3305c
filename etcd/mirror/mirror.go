// Package mirror keeps copies of key ranges of etcd and keeps them in step: it lists a range at one revision, watches
// from the next, and hands what it learns to a Sink. It knows nothing of DNS.
//
// Open gives a Mirror, one client of one cluster. Subscribe gives a Feed, the copy of one range in one Sink. What
// the mirror promises to a Sink:
//
//   - Reset carries a state that existed: every page of a list is pinned to the revision of the first.
//   - Apply carries whole revisions: a transaction is never torn within the range.
//   - The copy never goes back to an older revision of the same history, and when the history itself was replaced (a
//     restored or another cluster) it is listed anew.
//   - Nothing that happens to etcd empties a copy. A Sink keeps the last good state until the next call replaces it.
//
// What it does not do: it never expires a key by a local clock (leases end when etcd says so), and it never blocks its
// caller on etcd. Neither Open nor Subscribe waits for a connection.
//
// A feed copies one range, and each range has its own list, watch, state and rights: one that may not be read does not
// hold up another. A transaction that spans two ranges therefore arrives as two calls to two sinks.
package mirror

import (
	"context"
	"sync"

	clog "github.com/coredns/coredns/plugin/pkg/log"
)

var log = clog.NewWithPlugin("etcd")

// Mirror is one client of one etcd cluster, shared by any number of feeds. Its methods may be called from any
// goroutine.
type Mirror struct {
	cfg    Config
	conn   *connector
	leases *Leases

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex // guards the following
	closed bool
	feeds  map[*Feed]struct{}
}

// Open starts a mirror of the cluster that cfg names. It returns at once, whether or not etcd can be reached; its errors
// are those of cfg.
func Open(cfg Config) (*Mirror, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	m := &Mirror{cfg: cfg, conn: newConnector(cfg), feeds: map[*Feed]struct{}{}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.leases = newLeases(cfg.Timing, m.conn)
	m.wg.Go(func() { m.leases.run(m.ctx) })
	m.wg.Go(func() { m.conn.syncMembers(m.ctx) })
	return m, nil
}

// Subscribe copies every key of r into s, until the feed or the mirror is closed. Calls to s come from one goroutine of
// the feed.
//
// The zero Position has s filled by a list. Any other says what s holds already (from a snapshot on disk): the feed then
// goes on from there, and lists only when the cluster cannot or when it is another one.
//
// On a closed mirror the feed is closed from the start.
func (m *Mirror) Subscribe(r Range, s Sink, known Position) *Feed {
	return m.Resume(r, s, known, known.Revision)
}

// Resume is Subscribe for a copy that etcd was known to equal up to the revision confirmed, later perhaps than the last
// change of the range: the position of Status of the feed that made it. A range in which little happens can then be gone
// on from where its last change was compacted long ago.
func (m *Mirror) Resume(r Range, s Sink, known Position, confirmed int64) *Feed {
	f := newFeed(m, r, s, known, confirmed)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		f.cancel()
		return f
	}
	m.feeds[f] = struct{}{}
	f.wg.Go(f.run)
	return f
}

// Leases tells the granted TTL of leases.
func (m *Mirror) Leases() *Leases { return m.leases }

// Status is that of the feed which is furthest behind.
func (m *Mirror) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	var worst Status
	first := true
	for f := range m.feeds {
		if st := f.Status(); first || st.worseThan(worst) {
			worst, first = st, false
		}
	}
	return worst
}

// Close ends every feed and the client, and waits for them. What the sinks hold stays with them. It always returns nil.
func (m *Mirror) Close() error {
	m.mu.Lock()
	m.closed = true
	feeds := m.feeds
	m.feeds = map[*Feed]struct{}{}
	m.mu.Unlock()

	m.cancel()
	for f := range feeds {
		f.wg.Wait()
	}
	m.wg.Wait()
	m.conn.close()
	return nil
}

// forget takes f off the list of feeds that Status and Close look at.
func (m *Mirror) forget(f *Feed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.feeds, f)
}
