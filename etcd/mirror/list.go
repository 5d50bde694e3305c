package mirror

import (
	"fmt"
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

// shrink says loudly that a list brought far fewer keys than the one before. They are taken away all the same: etcd is
// the truth, also when somebody deleted half of it.
func shrink(keys Range, before, after int64) {
	if before >= 10 && after < before/2 {
		log.Warningf("New list of %s has %d keys, there were %d", keys, after, before)
	}
}
