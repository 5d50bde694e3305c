package mirror

import (
	"context"
	"fmt"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// watch applies changes from f.next on until the stream ends, and returns why it did. The copy went without
// confirmation for the time of outage.
func (f *Feed) watch(client *clientv3.Client, outage time.Duration) error {
	// Without a leader a member would go on to say nothing; so it hangs up.
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(f.ctx))
	defer cancel()

	s, err := f.openStream(ctx, client, cancel)
	if err != nil {
		return fmt.Errorf("watching %s: %w", f.keys, err)
	}
	defer s.wait()
	defer cancel() // before wait

	tick := time.NewTicker(f.timing.Progress)
	defer tick.Stop()
	quorum := time.NewTicker(f.timing.Quorum)
	defer quorum.Stop()
	audits := newAuditor(f.timing, outage)
	defer audits.timer.Stop()
	for {
		select {
		case <-f.ctx.Done():
			return f.ctx.Err()
		case resp := <-s.responses:
			err = f.take(s, client, resp)
		case <-s.done:
			err = s.err
		case now := <-tick.C:
			err = f.askProgress(s, client, now)
		case <-quorum.C:
			f.startCheck(ctx, s, client)
		case c := <-s.quorum:
			s.expect(c.revision)
			err = c.err
		case <-audits.timer.C:
			f.startAudit(ctx, audits, client)
		case v := <-audits.result:
			err = f.judgeAudit(v)
			audits.schedule()
		}
		if err != nil {
			return fmt.Errorf("watching %s: %w", f.keys, err)
		}
	}
}

// take handles one response.
func (f *Feed) take(s *stream, client *clientv3.Client, resp *pb.WatchResponse) error {
	// etcd's gRPC proxy says itself that a watch which it joins to another one was created or is cancelled, and then does
	// not know the cluster: its ID is 0.
	switch id := resp.Header.GetClusterId(); {
	case id != f.at.ClusterID && id != 0:
		return fmt.Errorf("%w: ID %x, was %x", errCluster, id, f.at.ClusterID)
	case resp.CompactRevision != 0:
		return fmt.Errorf("%w: up to %d, the copy is of %d", errCompacted, resp.CompactRevision, f.next-1)
	case resp.Canceled:
		return cancelError(resp.CancelReason)
	case resp.Created:
		// Now, and not before: the cluster may have been replaced while the stream waited for a connection.
		revision, err := f.confirm(client)
		if err != nil {
			return err
		}
		s.expect(revision)
		return s.ask(time.Now())
	}
	if !s.asked.IsZero() {
		s.asked = time.Now() // slow, but not silent
	}
	whole, ok := s.join(resp)
	if !ok {
		return nil
	}
	if len(whole.Events) == 0 {
		f.progressed(s, whole)
		return nil
	}
	events := slices.DeleteFunc(whole.Events, func(ev *mvccpb.Event) bool { return ev.Kv.ModRevision < f.next })
	if len(events) == 0 {
		return nil
	}
	b := newBatch(events)
	for _, kv := range b.puts {
		if kv.Lease != 0 {
			f.mirror.leases.Want(kv.Lease)
		}
	}
	f.at.Revision = b.revision
	f.at.Keys += b.growth
	f.next = max(f.next, b.revision+1)
	s.reached(b.revision)
	f.sink.Apply(f.at, b.puts, b.deletes)
	f.confirmed()
	return nil
}
