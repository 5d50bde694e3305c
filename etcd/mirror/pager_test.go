package mirror

import (
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// stallingSink does something at a key of each list.
type stallingSink struct {
	*copySink
	lists atomic.Int32
	at    string
	do    func()
}

func (s *stallingSink) Reset(at Position, kvs iter.Seq2[KV, error]) {
	s.lists.Add(1)
	s.copySink.Reset(at, func(yield func(KV, error) bool) {
		for kv, err := range kvs {
			if kv.Key == s.at {
				s.do()
			}
			if !yield(kv, err) {
				return
			}
		}
	})
}

// A list goes on after a page that took too long, instead of beginning again with all of them.
func TestListGoesOnAfterAPageThatWasLost(t *testing.T) {
	e := etcdtest.Start(t)
	for i := 0; i < 2000; i += 100 {
		ops := make([]clientv3.Op, 100)
		for n := range ops {
			ops[n] = clientv3.OpPut(fmt.Sprintf("/s/%04d", i+n), "1")
		}
		if _, err := e.Client().Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	timing := testTiming()
	timing.Page, timing.Call = 10, 300*time.Millisecond
	var once sync.Once
	s := &stallingSink{copySink: newCopySink(), at: "/s/0085"} // on the second page, while the third is read
	s.do = func() {
		once.Do(func() {
			e.Bridge().Pause()
			time.AfterFunc(timing.Call*3/2, e.Bridge().Heal)
		})
	}
	m := open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing})
	m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	if n := s.lists.Load(); n != 1 {
		t.Errorf("listed %d times, want once", n)
	}
}

// Small ranges do not wait, and no wait is longer than the list itself may take.
func TestListsGiveWayByTheirLength(t *testing.T) {
	for _, tt := range []struct {
		rest    int64
		hasCopy bool
		r       float64
		want    time.Duration
	}{
		{0, false, 0.9, 0},
		{5000, false, 0.5, 5 * time.Millisecond},
		{1_000_000, false, 0.5, time.Second},
		{1_000_000, true, 0.5, 5 * time.Second},
		{1_000_000, false, 0, 0},
		{50_000_000, true, 0.999, 9990 * time.Millisecond},
	} {
		if got := way(tt.rest, tt.hasCopy, tt.r); got != tt.want {
			t.Errorf("%d keys, copy %t, %v: %v, want %v", tt.rest, tt.hasCopy, tt.r, got, tt.want)
		}
	}
}

func TestPagesGrowToWhatACallCarries(t *testing.T) {
	for _, tt := range []struct{ keys, bytes, want int64 }{
		{1000, 150_000, 8000},       // small values: at most eight times as many
		{8000, 1_200_000, 13981},    // as many as fill a page
		{10_000, 100_000, maxPage},  // tiny values
		{1000, 1000 << 20, minPage}, // values of 1 MiB
		{0, 0, minPage},
	} {
		if got := nextPage(tt.keys, tt.bytes); got != tt.want {
			t.Errorf("after %d keys of %d bytes: %d, want %d", tt.keys, tt.bytes, got, tt.want)
		}
	}
}
