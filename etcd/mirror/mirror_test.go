package mirror

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"

	"github.com/trident-dns/trident/internal/etcdtest"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

func TestCopyFollowsPutsAndDeletes(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/skydns/test/a", "1")
	e.Put("/skydns/tesu/a", "beside the range")
	s := newCopySink()
	f := open(t, Config{Endpoints: []string{e.Endpoint()}}).Subscribe(Prefix("/skydns/test/"), s, Position{})
	s.equals(t, e, "/skydns/test/")
	e.Put("/skydns/test/b", "2")
	e.Put("/skydns/test/a", "3")
	e.Delete("/skydns/test/a")
	e.Put("/skydns/tesu/b", "beside the range")
	s.equals(t, e, "/skydns/test/")
	if st := f.Status(); st.State != Fresh || st.Position.Keys != 1 || st.Err != nil {
		t.Errorf("status is %+v", st)
	}
	if _, _, resets := s.snapshot(); resets != 1 {
		t.Errorf("listed %d times, want once", resets)
	}
}

// A list in pages while keys change must give the state of one revision: here each transaction keeps all keys of a group
// equal, and deletes and creates, so that a mixture of revisions shows.
func TestFirstListDuringConcurrentWritesIsOneRevision(t *testing.T) {
	e := etcdtest.Start(t)
	const keys = 20_000
	fill(t, e.Client(), keys)

	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	t.Cleanup(writers.Wait)
	t.Cleanup(stop)
	client := e.Client()
	writers.Go(func() {
		// One key at each end of the range, always with the same value.
		for i := 0; ctx.Err() == nil; i++ {
			v := strconv.Itoa(i)
			_, err := client.Txn(ctx).Then(
				clientv3.OpPut("/skydns/test/00000", v), clientv3.OpPut("/skydns/test/99999", v)).Commit()
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	writers.Go(func() {
		// One key that exists at a time, at either end.
		for i := 0; ctx.Err() == nil; i++ {
			put, del := "/skydns/test/00001", "/skydns/test/99998"
			if i%2 == 1 {
				put, del = del, put
			}
			_, err := client.Txn(ctx).Then(clientv3.OpPut(put, "token"), clientv3.OpDelete(del)).Commit()
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})

	timing := testTiming()
	timing.Page = 1000
	for range 3 {
		m := open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing})
		s := newCopySink()
		s.record = true
		m.Subscribe(Prefix("/skydns/test/"), s, Position{})
		eventually(t, "list and some changes", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.history) > 20
		})
		m.Close()
		s.check(t)
		for rev, state := range s.history {
			if state["/skydns/test/00000"] != state["/skydns/test/99999"] {
				t.Errorf("revision %d is torn: %q and %q", rev, state["/skydns/test/00000"], state["/skydns/test/99999"])
			}
			_, first := state["/skydns/test/00001"]
			_, second := state["/skydns/test/99998"]
			if first == second {
				t.Errorf("revision %d never existed: token at the front %v, at the end %v", rev, first, second)
			}
		}
	}
	stop()
	writers.Wait()
	s := newCopySink()
	open(t, Config{Endpoints: []string{e.Endpoint()}}).Subscribe(Prefix("/skydns/test/"), s, Position{})
	s.equals(t, e, "/skydns/test/")
}

// fill writes keys below /skydns/test/, and the ones that the writers of the test above change.
func fill(t *testing.T, c *clientv3.Client, keys int) {
	t.Helper()
	const perTxn = 100
	ops := []clientv3.Op{
		clientv3.OpPut("/skydns/test/00000", ""), clientv3.OpPut("/skydns/test/99999", ""),
		clientv3.OpPut("/skydns/test/00001", "token"),
	}
	for i := 10; i < keys+10; i++ {
		ops = append(ops, clientv3.OpPut(fmt.Sprintf("/skydns/test/%05d", i), `{"host":"192.0.2.1"}`))
		if len(ops) >= perTxn || i == keys+9 {
			if _, err := c.Txn(t.Context()).Then(ops...).Commit(); err != nil {
				t.Fatal(err)
			}
			ops = ops[:0]
		}
	}
}

// A transaction larger than a gRPC message may be arrives in fragments, and is applied as one.
func TestLargeTransactionIsAppliedAsOne(t *testing.T) {
	const ops = 2000
	e := etcdtest.Start(t, etcdtest.MaxTxnOps(ops), func(c *embed.Config) { c.MaxRequestBytes = 8 << 20 })
	s := newCopySink()
	sizes := make(chan int, 10)
	s.onApply = func(puts []KV, deletes []string) { sizes <- len(puts) + len(deletes) }
	open(t, Config{Endpoints: []string{e.Endpoint()}}).Subscribe(Prefix("/skydns/"), s, Position{})
	eventually(t, "first list", func() bool { _, _, n := s.snapshot(); return n == 1 })

	value := string(make([]byte, 2000)) // 4 MB in all
	var txn []clientv3.Op
	for i := range ops {
		txn = append(txn, clientv3.OpPut(fmt.Sprintf("/skydns/%d", i), value))
	}
	if _, err := e.Client().Txn(t.Context()).Then(txn...).Commit(); err != nil {
		t.Fatal(err)
	}
	if n := <-sizes; n != ops {
		t.Errorf("the first call had %d changes of %d", n, ops)
	}
	s.equals(t, e, "/skydns/")
}

func TestSeveralFeedsShareOneConnection(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/a/1", "1")
	e.Put("/b/1", "1")
	m := open(t, Config{Endpoints: []string{e.Endpoint()}})
	a, b := newCopySink(), newCopySink()
	fa := m.Subscribe(Prefix("/a/"), a, Position{})
	m.Subscribe(Prefix("/b/"), b, Position{})
	a.equals(t, e, "/a/")
	b.equals(t, e, "/b/")
	if n := e.Bridge().Connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	fa.Close()
	e.Put("/a/2", "2")
	e.Put("/b/2", "2")
	b.equals(t, e, "/b/")
	if _, have, _ := a.snapshot(); !maps.Equal(have, map[string]string{"/a/1": "1"}) {
		t.Errorf("closed feed has %v", have)
	}
}

// What a reload opens, and a failed one throws away, must be gone: goroutines, which TestMain counts, and connections.
func TestMirrorsOpenedAndClosedLeaveNothing(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	for i := range 50 {
		m, err := Open(Config{Endpoints: []string{e.Endpoint()}, Timing: testTiming()})
		if err != nil {
			t.Fatal(err)
		}
		s := newCopySink()
		f := m.Subscribe(Prefix("/s/"), s, Position{})
		if i%2 == 0 { // else close it in the middle of connecting
			eventually(t, "copy", func() bool { return f.Status().State == Fresh })
		}
		m.Close()
	}
	eventually(t, "no connection", func() bool { return e.Bridge().Open() == 0 })
}

func TestSubscribeToClosedMirrorIsClosed(t *testing.T) {
	m := open(t, Config{Endpoints: []string{"http://127.0.0.1:1"}})
	m.Close()
	f := m.Subscribe(Prefix("/"), newCopySink(), Position{})
	f.Close()
	if st := f.Status(); st.State != Starting {
		t.Errorf("state is %s", st.State)
	}
}
