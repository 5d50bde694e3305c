package mirror

import (
	"context"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// A watch that brings nothing may mean that nothing changes, or that it does not work any more. So the feed asks two
// questions as long as it watches: often the stream, how far it has come, and now and then the quorum, how far it should
// be by now.

// allWatches is the watch ID of an answer about the progress of a whole stream.
const allWatches = -1

// askProgress asks how far etcd has come. Not to be answered for too long is an error; not to be answered once is not:
// etcd forgets the question while a watch is catching up.
func (f *Feed) askProgress(s *stream, client *clientv3.Client, now time.Time) error {
	answers := f.mirror.conn.answers.Load()
	if answers && s.floor != 0 && now.Sub(s.floorAt) >= f.timing.Silence {
		return fmt.Errorf("%w: the quorum had revision %d", errBehind, s.floor)
	}
	if !s.asked.IsZero() && now.Sub(s.asked) >= f.timing.Silence {
		if answers {
			return errSilent
		}
		// etcd's gRPC proxy never answers about progress. What it passes on from the quorum must do, with its keep-alive,
		// its notice of progress every ten minutes, and the audit.
		if _, err := f.confirm(client); err != nil {
			return err
		}
		s.asked = time.Time{}
		f.confirmed()
	}
	return s.ask(now)
}

// progressed handles an answer about progress: the copy is that of its revision as well.
func (f *Feed) progressed(s *stream, resp *pb.WatchResponse) {
	if resp.WatchId == allWatches {
		s.asked = time.Time{}
		f.mirror.conn.answers.Store(true)
	}
	s.reached(resp.Header.Revision)
	if resp.Header.Revision < f.next-1 || s.floor != 0 {
		return // from a member that is behind the copy, or behind the quorum: no news
	}
	// Servers before 3.5.8 could send progress ahead of changes of the same revision. The changes follow at once, so that
	// by the next answer the previous one is true. A watch is therefore taken up from there.
	f.next = max(f.next, s.progress+1)
	s.progress = resp.Header.Revision
	f.confirmed()
}

// startCheck asks the quorum in the background. A member whose disk is stuck still answers about progress: that there is
// none.
func (f *Feed) startCheck(ctx context.Context, s *stream, client *clientv3.Client) {
	if !f.mirror.conn.answers.Load() {
		return // nothing could be compared with the answer
	}
	at, next := f.at, f.next // as of the question: changes go on to be applied
	f.wg.Go(func() {
		header, err := f.askQuorum(ctx, client)
		if err != nil {
			return // the stream fares better than the call: no reason to end it
		}
		select {
		case s.quorum <- check{header.Revision, judge(at, next, header)}:
		default: // the last answer was not taken yet
		}
	})
}

// check is what an answer of the quorum amounts to.
type check struct {
	revision int64
	err      error // the history is another one
}

// expect notes that the quorum has come to a revision, unless the stream has yet to come to an earlier one.
func (s *stream) expect(revision int64) {
	if s.floor == 0 && revision > s.progress {
		s.floor, s.floorAt = revision, time.Now()
	}
}

// reached notes how far the stream has come.
func (s *stream) reached(revision int64) {
	if revision >= s.floor {
		s.floor = 0
	}
}
