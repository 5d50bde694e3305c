package mirror

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Feed keeps the copy of one range in one Sink. Its exported methods may be called from any goroutine.
type Feed struct {
	mirror *Mirror
	keys   Range
	sink   Sink
	timing Timing

	ctx    context.Context // ends with Close, of the feed or of the mirror
	cancel context.CancelFunc
	wg     sync.WaitGroup

	status atomic.Pointer[report]

	// The following belong to the goroutine of run.

	at     Position // what the sink holds
	listed bool     // the sink was filled by a list of this feed
	// next is the revision from which a watch misses nothing. It runs ahead of at.Revision in a quiet range.
	next    int64
	relist  bool // the sink holds nothing, or nothing that can be gone on from
	reason  Reason
	contact time.Time
	logged  string // what the last line of the log said
}

// report is what Status is made of.
type report struct {
	at      Position
	contact time.Time
	err     error
}

func newFeed(m *Mirror, keys Range, s Sink, known Position, confirmed int64) *Feed {
	f := &Feed{
		mirror: m,
		keys:   keys,
		sink:   s,
		timing: m.cfg.Timing,
		at:     known,
		next:   max(known.Revision, confirmed) + 1,
		relist: known.Revision == 0,
	}
	f.ctx, f.cancel = context.WithCancel(m.ctx)
	f.report(nil)
	return f
}

// Range is what the feed copies.
func (f *Feed) Range() Range { return f.keys }

// Status tells how the feed is doing now. It takes no lock.
func (f *Feed) Status() Status {
	r := f.status.Load()
	return Status{
		State:    stateAt(r.at.Revision > 0, r.contact, time.Now(), f.timing.StaleAfter),
		Position: r.at,
		Contact:  r.contact,
		Err:      r.err,
	}
}

// Close ends the feed and waits for it. The sink is not called any more, and keeps what it holds.
func (f *Feed) Close() {
	f.cancel()
	f.wg.Wait()
	f.mirror.forget(f)
}

// run goes from session to session until the feed is closed.
func (f *Feed) run() {
	for failures := 0; ; failures++ {
		start := time.Now()
		err := f.session()
		if f.ctx.Err() != nil {
			return
		}
		if time.Since(start) > f.timing.BackoffMax {
			failures = 0 // it went well for a while; a list alone would not show that
		}
		if reason, ok := relistReason(err); ok {
			f.relist, f.reason = true, reason
		}
		f.report(err)
		f.logState(err)
		pause := time.NewTimer(backoff(failures, f.timing.BackoffMin, f.timing.BackoffMax, rand.Float64()))
		select {
		case <-f.ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// session lists the range, when the copy cannot be gone on from, and watches until something goes wrong, which it
// returns.
func (f *Feed) session() error {
	client, err := f.mirror.conn.get(f.ctx)
	if err != nil {
		return err
	}
	var outage time.Duration
	if f.relist {
		err = f.list(client)
	} else {
		outage = time.Since(f.contact) // centuries, for a copy from a snapshot
	}
	if err == nil {
		err = f.watch(client, outage)
	}
	err = f.mirror.conn.explain(f.ctx, client, err)
	// A member that has become a black hole keeps its connection for another dozen seconds, and gets its share of calls.
	if loginRefused(err) || timedOut(err) {
		f.mirror.conn.drop(client)
	}
	return err
}

// confirm asks the quorum whether the history that the copy comes from is still that of the cluster, and returns the
// revision that it has come to. A watch would not tell: etcd accepts one from a future revision, and says nothing until
// that comes.
func (f *Feed) confirm(client *clientv3.Client) (int64, error) {
	header, err := f.askQuorum(f.ctx, client)
	if err != nil {
		return 0, fmt.Errorf("reading from etcd: %w", err)
	}
	if err := judge(f.at, f.next, header); err != nil {
		return 0, err
	}
	f.at.RaftTerm = header.RaftTerm
	if f.at.Began == 0 {
		f.at.Began = time.Now().UnixNano()
	}
	return header.Revision, nil
}

// askQuorum returns the header of a linearizable answer. It may be called from any goroutine.
func (f *Feed) askQuorum(ctx context.Context, client *clientv3.Client) (*pb.ResponseHeader, error) {
	ctx, cancel := context.WithTimeout(ctx, f.timing.Call)
	defer cancel()
	// One key, for the header. Asking for the range would have etcd count it.
	resp, err := client.Get(ctx, f.keys.Start, clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	return resp.Header, nil
}

// judge compares the header of a linearizable answer with what is known of the history: the position of the copy and
// the revision after the last that etcd confirmed.
func judge(at Position, next int64, h *pb.ResponseHeader) error {
	switch {
	case h.ClusterId != at.ClusterID:
		return fmt.Errorf("%w: ID %x, was %x", errCluster, h.ClusterId, at.ClusterID)
	case h.Revision < next-1:
		return fmt.Errorf("%w: revision %d, was %d", errRestored, h.Revision, next-1)
	case h.RaftTerm < at.RaftTerm:
		return fmt.Errorf("%w: term %d, was %d", errRestored, h.RaftTerm, at.RaftTerm)
	}
	return nil
}

// report publishes what Status shows.
func (f *Feed) report(err error) {
	at := f.at
	at.Revision = max(at.Revision, f.next-1)
	f.status.Store(&report{at: at, contact: f.contact, err: err})
}

// confirmed notes that etcd has just shown the copy to be up to date, and says so.
func (f *Feed) confirmed() {
	f.contact = time.Now()
	f.report(nil)
	f.logState(nil)
}

// logState writes a line when the state of the feed, or the kind of its trouble, is another than at the last line.
func (f *Feed) logState(err error) {
	st := f.Status()
	line := st.State.String() + kind(err)
	// A short break says nothing yet.
	if line == f.logged || (st.State == Fresh && err != nil && kind(err) == kindAway) {
		return
	}
	// A single key is copied beside the range of what lies below it, whose lines are about the same cluster. Rights are its
	// own, and so is their return.
	if f.keys == Single(f.keys.Start) && kind(err) != kindPermission && (err != nil || f.logged == "") {
		return
	}
	f.logged = line
	switch {
	case err == nil:
		log.Infof("Copy of %s is %s at revision %d, %d keys", f.keys, st.State, st.Position.Revision, st.Position.Keys)
	case st.State == Starting:
		log.Warningf("No copy of %s yet, trying on: %v", f.keys, err)
	default:
		log.Warningf("Copy of %s is %s at revision %d, serving it and trying on: %v",
			f.keys, st.State, st.Position.Revision, err)
	}
}
