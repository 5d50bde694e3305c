package mirror

import (
	"fmt"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// list fills the sink with the range as it is at one revision: that of the first page, to which the others are pinned.
func (f *Feed) list(client *clientv3.Client) error {
	p := newPager(client, f.keys, f.timing)
	err := p.first(f.ctx)
	confirmed := err == nil
	if err != nil && f.at.Revision == 0 && unavailable(err) {
		// Without quorum, a member still knows what it has applied: a state that existed, if not the last. That is worth
		// having for want of any copy; where there is one it could be a step back.
		if p.serializable = true; p.first(f.ctx) == nil {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("listing %s: %w", f.keys, err)
	}

	if err := f.giveWay(p.page.Count - int64(len(p.page.Kvs))); err != nil {
		return err
	}
	at := Position{
		ClusterID: p.header.ClusterId, RaftTerm: p.header.RaftTerm, Revision: p.header.Revision, Began: f.at.Began,
	}
	if confirmed && (f.at.Began == 0 || judge(f.at, f.next, p.header) != nil) {
		at.Began = time.Now().UnixNano()
	}
	f.sink.Reset(at, p.all(f.ctx, f.mirror.leases.Want))
	if p.err != nil {
		return fmt.Errorf("listing %s: %w", f.keys, p.err)
	}
	if f.listed {
		f.mirror.cfg.OnRelist(f.reason)
	}
	shrink(f.keys, f.at.Keys, p.count)
	at.Keys = p.count
	f.at, f.next, f.listed, f.relist = at, at.Revision+1, true, false
	if !confirmed {
		f.report(errNoQuorum)
		return errNoQuorum
	}
	f.confirmed()
	return nil
}

// A long list waits by lot before it goes on after its first page: replicas that start together, or that an outage has
// left behind the same compaction, would all be at it in the same moment.
const (
	// wayFirst is at most how long for each key. A list takes several times that.
	wayFirst = 2 * time.Microsecond
	// wayAgain is that of a list which is to replace a copy: questions are answered meanwhile.
	wayAgain = 10 * time.Microsecond
	// wayKeys is the number of keys beyond which the wait does not grow.
	wayKeys = 1_000_000
)

// giveWay waits, with rest keys to come.
func (f *Feed) giveWay(rest int64) error {
	d := way(rest, f.at.Revision > 0, rand.Float64())
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-f.ctx.Done():
		return f.ctx.Err()
	case <-timer.C:
		return nil
	}
}

// way is how long to wait for the sake of others, r being a lot in [0, 1).
func way(rest int64, hasCopy bool, r float64) time.Duration {
	perKey := wayFirst
	if hasCopy {
		perKey = wayAgain
	}
	return time.Duration(r * float64(min(rest, wayKeys)) * float64(perKey))
}

// shrink says loudly that a list brought far fewer keys than the one before. They are taken away all the same: etcd is
// the truth, also when somebody deleted half of it.
func shrink(keys Range, before, after int64) {
	if before >= 10 && after < before/2 {
		log.Warningf("New list of %s has %d keys, there were %d", keys, after, before)
	}
}
