package mirror

import (
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func grant(t *testing.T, e *etcdtest.Etcd, seconds int64) clientv3.LeaseID {
	t.Helper()
	resp, err := e.Client().Grant(t.Context(), seconds)
	if err != nil {
		t.Fatal(err)
	}
	return resp.ID
}

// The TTL is the granted one, for leases of the first list and of changes alike, and stays when etcd is away.
func TestGrantedTTLOfLeasesIsLearned(t *testing.T) {
	e := etcdtest.Start(t)
	early, late := grant(t, e, 600), grant(t, e, 1200)
	e.Put("/s/early", "1", clientv3.WithLease(early))
	s := newCopySink()
	m := open(t, Config{Endpoints: []string{e.Endpoint()}})
	m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	e.Put("/s/late", "1", clientv3.WithLease(late))
	for id, want := range map[clientv3.LeaseID]uint32{early: 600, late: 1200} {
		eventually(t, "TTL", func() bool { ttl, ok := m.Leases().TTL(int64(id)); return ok && ttl == want })
	}
	if _, ok := m.Leases().TTL(1); ok {
		t.Error("a lease that no key has is known")
	}
	s.mu.Lock()
	if got := s.kvs["/s/late"].Lease; got != int64(late) {
		t.Errorf("lease of the key is %x, want %x", got, late)
	}
	s.mu.Unlock()
	e.Stop()
	if ttl, ok := m.Leases().TTL(int64(early)); !ok || ttl != 600 {
		t.Errorf("without etcd the TTL is %d, %v", ttl, ok)
	}
}

func TestLeasesAreAskedForOnceEtcdIsBack(t *testing.T) {
	e := etcdtest.Start(t)
	id := grant(t, e, 600)
	timing := testTiming()
	timing.Call = 50 * time.Millisecond
	m := open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing})
	e.Bridge().Pause()
	m.leases.Want(int64(id))
	m.leases.Want(int64(id)) // is queued already
	time.Sleep(200 * time.Millisecond)
	if _, ok := m.Leases().TTL(int64(id)); ok {
		t.Fatal("known without having been asked for")
	}
	e.Bridge().Heal()
	eventually(t, "TTL", func() bool { _, ok := m.Leases().TTL(int64(id)); return ok })
	eventually(t, "empty queue", func() bool {
		m.leases.mu.Lock()
		defer m.leases.mu.Unlock()
		return len(m.leases.order) == 0 && len(m.leases.queued) == 0
	})
}

// A lease that may not be looked at must not hold up the others.
func TestUnknownLeaseIsPassedOver(t *testing.T) {
	e := etcdtest.Start(t)
	id := grant(t, e, 600)
	m := open(t, Config{Endpoints: []string{e.Endpoint()}})
	m.leases.Want(4711)
	m.leases.Want(int64(id))
	eventually(t, "TTL", func() bool { _, ok := m.Leases().TTL(int64(id)); return ok })
	if _, ok := m.Leases().TTL(4711); ok {
		t.Error("a lease that does not exist is known")
	}
}

func TestEndedLeasesAreForgotten(t *testing.T) {
	e := etcdtest.Start(t)
	stays, ends := grant(t, e, 600), grant(t, e, 600)
	timing := testTiming()
	timing.LeaseSweep = 50 * time.Millisecond
	m := open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing})
	m.leases.Want(int64(stays))
	m.leases.Want(int64(ends))
	eventually(t, "TTLs", func() bool {
		_, a := m.Leases().TTL(int64(stays))
		_, b := m.Leases().TTL(int64(ends))
		return a && b
	})
	if _, err := e.Client().Revoke(t.Context(), ends); err != nil {
		t.Fatal(err)
	}
	eventually(t, "forgotten", func() bool { _, ok := m.Leases().TTL(int64(ends)); return !ok })
	if _, ok := m.Leases().TTL(int64(stays)); !ok {
		t.Error("a live lease was forgotten")
	}
}
