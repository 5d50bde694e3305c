package mirror

import (
	"flag"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(memberDir); dir != "" {
		serveMember(dir)
	}
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		_ = p.Value.Set("4") // tests of clusters wait for elections and leases more than they compute
	}
	goleak.VerifyTestMain(m, etcdtest.Leaks()...)
}

// copySink is a sink that keeps everything in a map, and notes each call.
type copySink struct {
	mu     sync.Mutex
	at     Position
	kvs    map[string]KV
	resets int
	// history has the revision of each call and the state after it, for as long as record is set.
	record  bool
	history map[int64]map[string]string
	broken  string // a promise of Sink that was not kept
	notify  chan struct{}
	onApply func(puts []KV, deletes []string)
}

func newCopySink() *copySink {
	return &copySink{kvs: map[string]KV{}, notify: make(chan struct{}, 1), history: map[int64]map[string]string{}}
}

func (s *copySink) Reset(at Position, kvs iter.Seq2[KV, error]) {
	next := map[string]KV{}
	last := ""
	for kv, err := range kvs {
		if err != nil {
			return
		}
		if kv.Key <= last {
			s.breaks("key %q after %q", kv.Key, last)
		}
		if kv.ModRevision > at.Revision {
			s.breaks("key %q of revision %d in a list at %d", kv.Key, kv.ModRevision, at.Revision)
		}
		last = kv.Key
		next[kv.Key] = kv
	}
	s.mu.Lock()
	at.Keys = int64(len(next))
	s.at, s.kvs = at, next
	s.resets++
	s.mu.Unlock()
	s.done()
}

func (s *copySink) Apply(at Position, puts []KV, deletes []string) {
	s.mu.Lock()
	if at.Revision <= s.at.Revision {
		s.mu.Unlock()
		s.breaks("change of revision %d after %d", at.Revision, s.at.Revision)
		s.mu.Lock()
	}
	s.at = at
	for _, kv := range puts {
		s.kvs[kv.Key] = kv
	}
	for _, k := range deletes {
		if _, ok := s.kvs[k]; !ok {
			s.broken = "deleted key " + k + " was not there"
		}
		delete(s.kvs, k)
	}
	if int64(len(s.kvs)) != at.Keys {
		s.broken = fmt.Sprintf("%d keys at %d, the feed says %d", len(s.kvs), at.Revision, at.Keys)
	}
	hook := s.onApply
	s.mu.Unlock()
	if hook != nil {
		hook(puts, deletes)
	}
	s.done()
}

func (s *copySink) breaks(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = fmt.Sprintf(format, args...)
}

func (s *copySink) done() {
	s.mu.Lock()
	if s.record {
		s.history[s.at.Revision] = s.values()
	}
	s.mu.Unlock()
	select {
	case s.notify <- struct{}{}:
	default:
	}
}

// values returns the copy. s.mu is held.
func (s *copySink) values() map[string]string {
	m := make(map[string]string, len(s.kvs))
	for k, kv := range s.kvs {
		m[k] = string(kv.Value)
	}
	return m
}

func (s *copySink) snapshot() (Position, map[string]string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at, s.values(), s.resets
}

// View implements Viewer.
func (s *copySink) View() (Position, iter.Seq2[string, int64]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kvs := maps.Clone(s.kvs)
	return s.at, func(yield func(string, int64) bool) {
		for _, k := range slices.Sorted(maps.Keys(kvs)) {
			if !yield(k, kvs[k].ModRevision) {
				return
			}
		}
	}
}

func (s *copySink) check(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != "" {
		t.Errorf("promise broken: %s", s.broken)
	}
}

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(etcdtest.Wait)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("in vain waited for: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// equals waits until the copy is what etcd holds below the prefix.
func (s *copySink) equals(t *testing.T, e *etcdtest.Etcd, prefix string) {
	t.Helper()
	eventually(t, "copy equal to etcd", func() bool {
		want, _ := e.Dump(prefix) // each time: a write that was given up may still arrive
		_, have, _ := s.snapshot()
		return maps.Equal(have, want)
	})
	s.check(t)
}

// testTiming is quick enough for tests and slow enough for a loaded machine.
func testTiming() Timing {
	return Timing{
		Call:       time.Second,
		Progress:   100 * time.Millisecond,
		Silence:    500 * time.Millisecond,
		Quorum:     200 * time.Millisecond,
		StaleAfter: time.Second,
		BackoffMin: 5 * time.Millisecond,
		BackoffMax: 100 * time.Millisecond,
		Audit:      -1,
		LeaseGap:   time.Millisecond,
		LeaseRetry: 50 * time.Millisecond,
		LeaseSweep: time.Hour,
	}
}

// open opens a mirror that the test closes.
func open(t *testing.T, cfg Config) *Mirror {
	t.Helper()
	if cfg.Timing == (Timing{}) {
		cfg.Timing = testTiming()
	}
	m, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}
