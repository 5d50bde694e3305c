package etcd

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trident-dns/trident/plugin/backend"

	"github.com/trident-dns/trident/etcd/index"
	"github.com/trident-dns/trident/etcd/mirror"
)

// indexed is a zone with an index of its own, and what puts a key there.
func indexed() (*served, func(key, value string)) {
	zone := backend.NewZone("zone.test.")
	s := &source{zone: zone, prefix: "/skydns", index: index.New("/skydns", zone.Path, nil)}
	revision := int64(1)
	s.index.Zone().Reset(mirror.Position{Revision: revision}, pairs(`/skydns/test/zone/a {"host":"10.0.0.1"}`))
	return &served{Zone: zone, source: s}, func(key, value string) {
		revision++
		kv := mirror.KV{Key: "/skydns/test/zone/" + key, Value: []byte(value), ModRevision: revision}
		s.index.Zone().Apply(mirror.Position{Revision: revision}, []mirror.KV{kv}, nil)
	}
}

func TestSecondariesAreToldAtOnceAndThenNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, put := indexed()
		var told []time.Duration
		began := time.Now()
		n := openNotifier(func(string) error {
			told = append(told, time.Since(began))
			return nil
		}, []*served{z})
		defer func() { _ = n.Close() }()
		synctest.Wait()
		for i := range 100 { // ten seconds of changes
			put("b", fmt.Sprintf(`{"host":"10.0.0.%d"}`, i))
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		put("a", `{"host":"10.0.0.1"}`) // nothing has changed
		time.Sleep(time.Minute)
		put("c", `{"host":"10.0.0.1"}`)
		synctest.Wait()
		if got, want := fmt.Sprint(told), "[0s 5s 10s 2m10s]"; got != want {
			t.Errorf("told at %s, want %s", got, want)
		}
	})
}

func TestTheEndDoesNotWaitForSecondaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, _ := indexed()
		n := openNotifier(func(string) error {
			time.Sleep(time.Hour)
			return errors.New("nobody there")
		}, []*served{z})
		synctest.Wait()
		began := time.Now()
		_ = n.Close()
		if waited := time.Since(began); waited > notifyPatience {
			t.Errorf("waited for %s", waited)
		}
		time.Sleep(time.Hour)
	})
}

func TestJournalsAreBounded(t *testing.T) {
	z, put := indexed()
	j := openJournal(z.source.index, z.Zone)
	defer func() { _ = j.Close() }()
	for i := range maxJournal + 10 {
		put("b", fmt.Sprintf(`{"host":"10.0.0.1","port":%d}`, i+1))
	}
	if _, _, _, ok := j.since(1); ok || len(j.changes) != maxJournal {
		t.Errorf("%d changes, the first among them: %t", len(j.changes), ok)
	}
	last := z.source.index.Snapshot().Serial(z.Zone)
	if _, now, touched, ok := j.since(last - 1); !ok || len(touched) != 1 || now != z.source.index.Snapshot() {
		t.Errorf("since the last but one: %v, %t", touched, ok)
	}
	for i := range maxTouched/2 + 1 {
		var kvs []mirror.KV
		for k := range 2 {
			kvs = append(kvs, mirror.KV{Key: fmt.Sprintf("/skydns/test/zone/k%d/%d", i, k), Value: []byte(`{"host":"10.0.0.1"}`)})
		}
		if i == 0 {
			for k := range maxTouched / 2 {
				kvs = append(kvs, mirror.KV{Key: fmt.Sprintf("/skydns/test/zone/m%d", k), Value: []byte(`{"host":"10.0.0.1"}`)})
			}
		}
		z.source.index.Zone().Apply(mirror.Position{Revision: int64(last) + 1 + int64(i)}, kvs, nil)
		if i > maxJournal {
			break
		}
	}
	if j.touched > maxTouched {
		t.Errorf("%d names", j.touched)
	}
	z.source.index.Zone().Reset(mirror.Position{Revision: 1 << 40}, pairs(`/skydns/test/zone/a {"host":"10.0.0.2"}`))
	if len(j.changes) != 0 || j.touched != 0 {
		t.Errorf("a new list leaves %d changes", len(j.changes))
	}
}
