package mirror

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"
)

// lossy makes a server lose the events of keys that contain "lost", as servers did that had bugs.
func lossy(c *embed.Config) {
	c.GRPCAdditionalServerOptions = []grpc.ServerOption{grpc.ChainStreamInterceptor(
		func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			return handle(srv, lossyStream{s})
		})}
}

type lossyStream struct{ grpc.ServerStream }

func (s lossyStream) SendMsg(m any) error {
	if resp, ok := m.(*pb.WatchResponse); ok && len(resp.Events) > 0 {
		resp.Events = slices.DeleteFunc(resp.Events, func(ev *mvccpb.Event) bool {
			return strings.Contains(string(ev.Kv.Key), "lost")
		})
		if len(resp.Events) == 0 {
			return nil
		}
	}
	return s.ServerStream.SendMsg(m)
}

// plainSink hides the view of a copySink.
type plainSink struct{ s *copySink }

func (p plainSink) Reset(at Position, kvs iter.Seq2[KV, error])    { p.s.Reset(at, kvs) }
func (p plainSink) Apply(at Position, puts []KV, deletes []string) { p.s.Apply(at, puts, deletes) }

func TestAuditRepairsWhatTheWatchLost(t *testing.T) {
	for _, tt := range []struct {
		name   string
		viewer bool
		lose   func(*etcdtest.Etcd)
		want   int64
	}{
		{"created, counted", false, func(e *etcdtest.Etcd) { e.Put("/s/lost/new", "1") }, 1},
		{"deleted, counted", false, func(e *etcdtest.Etcd) { e.Delete("/s/lost/old") }, 1},
		{"updated, compared", true, func(e *etcdtest.Etcd) { e.Put("/s/lost/old", "2") }, 1},
		{"exchanged, compared", true, func(e *etcdtest.Etcd) {
			e.Delete("/s/lost/old")
			e.Put("/s/lost/new", "1")
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // spends its time waiting for the audit
			e := etcdtest.Start(t, lossy)
			e.Put("/s/a", "1")
			e.Put("/s/lost/old", "1")
			s, why := newCopySink(), make(relists, 10)
			var repaired atomic.Int64
			timing := testTiming()
			timing.Audit = time.Second
			timing.DeepAudit = 1
			var sink Sink = s
			if !tt.viewer {
				sink = plainSink{s}
			}
			open(t, Config{
				Endpoints: []string{e.Endpoint()}, Timing: timing, OnRelist: why.hook,
				OnRepair: func(n int) { repaired.Add(int64(n)) },
			}).Subscribe(Prefix("/s/"), sink, Position{})
			s.equals(t, e, "/s/")

			tt.lose(e)
			s.equals(t, e, "/s/")
			why.expect(t, ReasonAudit)
			if n := repaired.Load(); n != tt.want {
				t.Errorf("%d keys repaired, want %d", n, tt.want)
			}
		})
	}
}

func TestAuditOfAGoodCopyFindsNothing(t *testing.T) {
	e := etcdtest.Start(t)
	s, why := newCopySink(), make(relists, 10)
	timing := testTiming()
	timing.Audit = 20 * time.Millisecond
	timing.DeepAudit = 2
	f := open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing, OnRelist: why.hook}).
		Subscribe(Prefix("/s/"), s, Position{})
	for i := range 300 {
		key := "/s/" + string(rune('a'+i%20))
		if i%3 == 0 {
			e.Delete(key)
		} else {
			e.Put(key, "1")
		}
		if i%50 == 49 {
			rev := e.Put("/elsewhere", "1")
			eventually(t, "progress", func() bool { return f.Status().Position.Revision >= rev })
			e.Compact(rev)
		}
	}
	s.equals(t, e, "/s/")
	why.expectNone(t)
}

func TestRevokedRightIsFoundByTheAuditAlthoughTheWatchGoesOn(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	e.EnableAuth()
	e.AddUser("reader", "secret", "/s/")
	s := newCopySink()
	timing := testTiming()
	timing.Audit = 200 * time.Millisecond
	f := open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing, Login: fixedLogin("reader", "secret")}).
		Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	e.Put("/s/1", "2") // arrives by the watch, which thus exists
	s.equals(t, e, "/s/")
	e.Revoke("reader", "/s/")
	eventually(t, "revocation noticed", func() bool { return kind(f.Status().Err) == "permission" })
	if _, have, _ := s.snapshot(); len(have) != 1 {
		t.Errorf("without the right the copy is %v", have)
	}
	e.Grant("reader", "/s/")
	e.Put("/s/2", "1")
	s.equals(t, e, "/s/")
	eventually(t, "fresh", func() bool { return f.Status().State == Fresh })
}

func TestDifferencesOfSortedSequences(t *testing.T) {
	type pair struct {
		key string
		rev int64
	}
	fail := errors.New("reading failed")
	for _, tt := range []struct {
		have, want []pair
		n          int
		err        error
	}{
		{nil, nil, 0, nil},
		{[]pair{{"a", 1}, {"b", 2}}, []pair{{"a", 1}, {"b", 2}}, 0, nil},
		{[]pair{{"a", 1}, {"b", 2}}, []pair{{"a", 1}, {"b", 3}}, 1, nil},
		{[]pair{{"a", 1}, {"b", 2}, {"d", 1}}, []pair{{"b", 2}, {"c", 1}}, 3, nil},
		{nil, []pair{{"a", 1}}, 1, nil},
		{[]pair{{"a", 1}}, nil, 1, nil},
		{[]pair{{"a", 1}}, []pair{{"a", 1}, {"", 0}}, 0, fail},
	} {
		have := func(yield func(string, int64) bool) {
			for _, p := range tt.have {
				if !yield(p.key, p.rev) {
					return
				}
			}
		}
		want := func(yield func(KV, error) bool) {
			for _, p := range tt.want {
				if p.key == "" {
					yield(KV{}, fail)
					return
				}
				if !yield(KV{Key: p.key, ModRevision: p.rev}, nil) {
					return
				}
			}
		}
		if n, err := differences(have, want); n != tt.n || !errors.Is(err, tt.err) {
			t.Errorf("%v and %v: %d, %v", tt.have, tt.want, n, err)
		}
	}
}

func TestAuditsAreSpread(t *testing.T) {
	for r, want := range map[float64]time.Duration{0: 10 * time.Minute, 0.5: 20 * time.Minute, 1: 30 * time.Minute} {
		if got := auditDelay(20*time.Minute, r); got != want {
			t.Errorf("lot %v: %v, want %v", r, got, want)
		}
	}
}

// A cluster may have been restored, and overtaken the copy, while nobody looked: the copy of a snapshot on disk, say. No
// header shows that, and neither does the number of keys.
func TestLongOutageIsFollowedByAComparisonKeyByKey(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	s := newCopySink()
	m := open(t, Config{Endpoints: []string{e.Endpoint()}})
	m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	m.Close()
	known, _, _ := s.snapshot()
	s.mu.Lock()
	s.kvs = map[string]KV{"/s/other": {Key: "/s/other", Value: []byte("1"), ModRevision: 2}}
	s.mu.Unlock()

	timing := testTiming()
	timing.Audit = time.Second
	timing.DeepAudit = 1 << 30 // never by lot
	open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing}).Subscribe(Prefix("/s/"), s, known)
	s.equals(t, e, "/s/")
}
