package mirror

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Servers have lost events in the past, and a cluster that was restored and has overtaken the copy looks like the one
// before. So a feed compares its copy with etcd now and then. Counting costs etcd a walk over its index; comparing key
// by key costs it a read of the range, so that this is done more rarely: by lot, and after a long outage.

// auditor decides when a feed is audited.
type auditor struct {
	timing Timing
	timer  *time.Timer // for the next audit; never fires when there are none
	deep   bool        // the next one compares key by key
	result chan verdict
}

// verdict is what came of an audit.
type verdict struct {
	differences int // in number of keys
	err         error
}

func newAuditor(t Timing, outage time.Duration) *auditor {
	a := &auditor{timing: t, result: make(chan verdict, 1)}
	a.timer = time.NewTimer(time.Hour)
	if t.Audit < 0 {
		a.timer.Stop()
		return a
	}
	a.schedule()
	if outage > t.StaleAfter {
		// What took so long may have been a restore. All replicas come back at the same time.
		a.deep = true
		a.timer.Reset(auditDelay(min(t.Audit, time.Minute), rand.Float64()))
	}
	return a
}

// schedule sets the time and the kind of the next audit.
func (a *auditor) schedule() {
	a.deep = rand.IntN(a.timing.DeepAudit) == 0
	a.timer.Reset(auditDelay(a.timing.Audit, rand.Float64()))
}

// auditDelay is the wait for the next audit: mean, half as long or half as long again, r being a lot in [0, 1).
func auditDelay(mean time.Duration, r float64) time.Duration {
	return mean/2 + time.Duration(r*float64(mean))
}

// startAudit audits in the background. The verdict is for the copy as it is now, whatever is applied meanwhile.
func (f *Feed) startAudit(ctx context.Context, a *auditor, client *clientv3.Client) {
	rev, keys := f.next-1, f.at.Keys
	compare := func() (int, error) { return f.countKeys(ctx, client, rev, keys) }
	if v, ok := f.sink.(Viewer); ok && a.deep {
		// Nothing changed in the range between the last change and rev.
		if at, view := v.View(); at.Revision == f.at.Revision {
			compare = func() (int, error) { return f.compareKeys(ctx, client, rev, view) }
		}
	}
	f.wg.Go(func() {
		n, err := compare()
		a.result <- verdict{n, err}
	})
}

// judgeAudit turns a verdict into the error that ends the watch, nil when it may go on.
func (f *Feed) judgeAudit(v verdict) error {
	switch {
	case errors.Is(v.err, rpctypes.ErrPermissionDenied):
		return v.err // a watch outlives the right to it
	case v.err != nil:
		return nil //nolint:nilerr // the watch knows best whether etcd is there
	case v.differences > 0:
		f.mirror.cfg.OnRepair(v.differences)
		return fmt.Errorf("%w: %d keys", errAudit, v.differences)
	}
	return nil
}

// countKeys returns by how much the number of keys at rev differs from want.
func (f *Feed) countKeys(ctx context.Context, client *clientv3.Client, rev, want int64) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, f.timing.Call)
	defer cancel()
	resp, err := client.Get(ctx, f.keys.Start, clientv3.WithRange(f.keys.End), clientv3.WithCountOnly(),
		clientv3.WithRev(rev), clientv3.WithSerializable())
	if err != nil {
		return 0, err
	}
	return int(max(resp.Count-want, want-resp.Count)), nil
}

// compareKeys returns how many keys at rev differ from the view.
func (f *Feed) compareKeys(ctx context.Context, client *clientv3.Client, rev int64, view iter.Seq2[string, int64]) (
	int, error,
) {
	p := newPager(client, f.keys, f.timing)
	p.serializable, p.keysOnly, p.revision = true, true, rev
	if err := p.first(ctx); err != nil {
		return 0, err
	}
	return differences(view, p.all(ctx, func(int64) {}))
}

// differences counts the keys that are in only one of two sorted sequences, or in both with different revisions.
func differences(have iter.Seq2[string, int64], want iter.Seq2[KV, error]) (int, error) {
	next, stop := iter.Pull2(have)
	defer stop()
	key, rev, ok := next()
	n := 0
	for kv, err := range want {
		if err != nil {
			return 0, err
		}
		for ok && key < kv.Key {
			n++
			key, rev, ok = next()
		}
		if !ok || key != kv.Key {
			n++
			continue
		}
		if rev != kv.ModRevision {
			n++
		}
		key, rev, ok = next()
	}
	for ok {
		n++
		_, _, ok = next()
	}
	return n, nil
}
