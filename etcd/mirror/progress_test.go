package mirror

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"
)

// stuck makes a server whose watches stop at a revision while it is set: they bring no events, and say that there are
// none, as of a member that has stopped to apply.
type stuck struct{ at atomic.Int64 }

func (k *stuck) option(c *embed.Config) {
	c.GRPCAdditionalServerOptions = []grpc.ServerOption{grpc.ChainStreamInterceptor(
		func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			return handle(srv, stuckStream{s, k})
		})}
}

type stuckStream struct {
	grpc.ServerStream
	k *stuck
}

func (s stuckStream) SendMsg(m any) error {
	if resp, ok := m.(*pb.WatchResponse); ok {
		if at := s.k.at.Load(); at != 0 && resp.Header.Revision > at && !resp.Created {
			if len(resp.Events) > 0 {
				return nil
			}
			resp.Header.Revision = at
		}
	}
	return s.ServerStream.SendMsg(m)
}

func TestMemberThatIsStuckIsNoticedByTheQuorum(t *testing.T) {
	var k stuck
	e := etcdtest.Start(t, k.option)
	rev := e.Put("/s/1", "1")
	s, why := newCopySink(), make(relists, 10)
	m := open(t, Config{Endpoints: []string{e.Endpoint()}, OnRelist: why.hook})
	f := m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	eventually(t, "answer about progress", m.conn.answers.Load)
	k.at.Store(rev)
	e.Put("/s/2", "1")
	eventually(t, "noticed", func() bool { return errors.Is(f.Status().Err, errBehind) })
	eventually(t, "stale", func() bool { return f.Status().State == Stale })
	e.Bridge().Cut() // a stream that swallowed events must not come back to life
	k.at.Store(0)
	e.Bridge().Heal()
	s.equals(t, e, "/s/")
	eventually(t, "fresh", func() bool { return f.Status().State == Fresh })
	why.expectNone(t)
}

// A cluster in which nothing is written has no revision to make progress to. It is not silent for that.
func TestIdleClusterIsNotTakenForSilent(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	timing := testTiming()
	timing.Progress, timing.Silence, timing.Quorum = 20*time.Millisecond, 500*time.Millisecond, 50*time.Millisecond
	s := newCopySink()
	m := open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing})
	f := m.Subscribe(Prefix("/s/"), s, Position{})
	eventually(t, "answer about progress", m.conn.answers.Load)
	e.Bridge().Drop() // the second watch begins where the first one was
	eventually(t, "second connection", func() bool { return e.Bridge().Connections() == 2 })
	eventually(t, "second watch", func() bool { return f.Status().Err == nil })
	first := f.Status().Contact
	eventually(t, "confirmed for several times the silence", func() bool {
		st := f.Status()
		if st.Err != nil {
			t.Fatalf("the watch ended: %v", st.Err)
		}
		return st.Contact.Sub(first) > 5*timing.Silence
	})
}
