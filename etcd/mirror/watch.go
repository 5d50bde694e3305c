package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// The watch speaks the protocol itself, where the client library has a Watcher: that one takes up a broken stream by
// itself and hides the header of the new one, so that a cluster restored meanwhile would go unnoticed; and it queues
// without bound what a slow receiver leaves.

// allWatches is the watch ID of an answer about the progress of a whole stream.
const allWatches = -1

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
	switch {
	case resp.Header.GetClusterId() != f.at.ClusterID:
		return fmt.Errorf("%w: ID %x, was %x", errCluster, resp.Header.GetClusterId(), f.at.ClusterID)
	case resp.CompactRevision != 0:
		return fmt.Errorf("%w: up to %d, the copy is of %d", errCompacted, resp.CompactRevision, f.next-1)
	case resp.Canceled:
		return cancelError(resp.CancelReason)
	case resp.Created:
		// Now, and not before: the cluster may have been replaced while the stream waited for a connection.
		if err := f.confirm(client); err != nil {
			return err
		}
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
	b := newBatch(whole.Events)
	for _, kv := range b.puts {
		if kv.Lease != 0 {
			f.mirror.leases.want(kv.Lease)
		}
	}
	f.at.Revision = b.revision
	f.at.Keys += b.growth
	f.next = max(f.next, b.revision+1)
	f.sink.Apply(f.at, b.puts, b.deletes)
	f.confirmed()
	return nil
}

// progressed handles an answer about progress: the copy is that of its revision as well.
func (f *Feed) progressed(s *stream, resp *pb.WatchResponse) {
	if resp.WatchId == allWatches {
		s.asked = time.Time{}
		f.mirror.conn.answers.Store(true)
	}
	if resp.Header.Revision < f.next-1 {
		return // from a member that has yet to come as far as the copy: no news
	}
	// Servers before 3.5.8 could send progress ahead of changes of the same revision. The changes follow at once, so that
	// by the next answer the previous one is true. A watch is therefore taken up from there.
	f.next = max(f.next, s.progress+1)
	s.progress = resp.Header.Revision
	f.confirmed()
}

// askProgress asks how far etcd has come, unless it owes an answer already; for too long is an error.
func (f *Feed) askProgress(s *stream, client *clientv3.Client, now time.Time) error {
	switch {
	case s.asked.IsZero():
		return s.ask(now)
	case now.Sub(s.asked) < f.timing.Silence:
		return nil
	case f.mirror.conn.answers.Load():
		return errSilent
	}
	// etcd's gRPC proxy never answers about progress. What it passes on from the quorum must do, with its keep-alive, its
	// notice of progress every ten minutes, and the audit.
	if err := f.confirm(client); err != nil {
		return err
	}
	s.asked = time.Time{}
	f.confirmed()
	return nil
}

// stream is one watch of one range.
type stream struct {
	pb.Watch_WatchClient

	responses chan *pb.WatchResponse
	done      chan struct{} // closed when nothing more is received, for the reason in err
	err       error

	// The following belong to the goroutine of the feed.

	partial  *pb.WatchResponse // a response of which fragments are still to come
	asked    time.Time         // since when etcd owes an answer; zero: it does not
	progress int64             // revision of the last answer
}

// openStream starts a watch. Its goroutine ends when ctx does.
func (f *Feed) openStream(ctx context.Context, client *clientv3.Client, cancel func()) (*stream, error) {
	// Neither logging in, nor waiting for a connection, nor getting rid of the request has a bound of its own.
	guard := time.AfterFunc(f.timing.Call, cancel)
	defer guard.Stop()
	// A fragment is as large as the largest value, which the server limits.
	w, err := pb.NewWatchClient(client.ActiveConnection()).
		Watch(ctx, grpc.WaitForReady(true), grpc.MaxCallRecvMsgSize(math.MaxInt32))
	if err != nil {
		return nil, rpctypes.Error(err)
	}
	// Until the watch was created, etcd owes an answer.
	s := &stream{Watch_WatchClient: w, asked: time.Now()}
	err = s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{
		Key:            []byte(f.keys.Start),
		RangeEnd:       []byte(f.keys.End),
		StartRevision:  f.next,
		ProgressNotify: true,
		Fragment:       true,
	}}})
	if err != nil {
		return nil, err
	}
	s.responses, s.done = make(chan *pb.WatchResponse), make(chan struct{})
	go s.receive()
	return s, nil
}

func (s *stream) receive() {
	defer close(s.done)
	for {
		resp, err := s.Recv()
		if err != nil {
			s.err = rpctypes.Error(err)
			return
		}
		select {
		case s.responses <- resp:
		case <-s.Context().Done():
			s.err = s.Context().Err()
			return
		}
	}
}

// wait returns when the goroutine of the stream has ended, for which its context must have.
func (s *stream) wait() { <-s.done }

// ask asks about the progress of the stream.
func (s *stream) ask(now time.Time) error {
	s.asked = now
	return s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{
		ProgressRequest: &pb.WatchProgressRequest{},
	}})
}

// send returns no error for a stream that has ended: why it did is what Recv returns.
func (s *stream) send(req *pb.WatchRequest) error {
	if err := s.Send(req); err != nil && !errors.Is(err, io.EOF) {
		return rpctypes.Error(err)
	}
	return nil
}

// join puts fragments together. It returns false while some are missing.
func (s *stream) join(resp *pb.WatchResponse) (*pb.WatchResponse, bool) {
	if s.partial != nil {
		s.partial.Events = append(s.partial.Events, resp.Events...)
		s.partial.Fragment = resp.Fragment
		resp = s.partial
	}
	if resp.Fragment {
		s.partial = resp
		return nil, false
	}
	s.partial = nil
	return resp, true
}
