package mirror

import (
	"context"
	"errors"
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

	quorum  chan check // one answer of the quorum
	floor   int64      // a revision that the quorum had, and the stream has yet to come to; 0: none
	floorAt time.Time  // when the quorum had it
}

// openStream starts a watch. Its goroutine ends when ctx does.
func (f *Feed) openStream(ctx context.Context, client *clientv3.Client, cancel func()) (*stream, error) {
	// Neither logging in, nor waiting for a connection, nor getting rid of the request has a bound of its own.
	guard := time.AfterFunc(f.timing.Call, cancel)
	defer guard.Stop()
	// A fragment is as large as the largest value, which the server limits.
	w, err := pb.NewWatchClient(client.ActiveConnection()).
		Watch(ctx, grpc.WaitForReady(true), grpc.MaxCallRecvMsgSize(math.MaxInt32))
	if err != nil && ctx.Err() != nil && f.ctx.Err() == nil {
		return nil, context.DeadlineExceeded
	}
	if err != nil {
		return nil, rpctypes.Error(err)
	}
	// Until the watch was created, etcd owes an answer. It begins one revision early, with events that are known: etcd does
	// not answer about the progress of a watch that begins in the future, which the next revision of a quiet cluster is.
	s := &stream{Watch_WatchClient: w, asked: time.Now(), quorum: make(chan check, 1)}
	err = s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{
		Key:            []byte(f.keys.Start),
		RangeEnd:       []byte(f.keys.End),
		StartRevision:  f.next - 1,
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
	if s.asked.IsZero() {
		s.asked = now
	}
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
