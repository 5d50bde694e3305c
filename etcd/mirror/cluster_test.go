package mirror

import (
	"maps"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Two of three members stop: the third knows everything and may not say that it is current.
func TestLostQuorumKeepsTheCopyAndHeals(t *testing.T) {
	t.Parallel() // spends its time waiting for elections
	c := etcdtest.StartCluster(t, 3)
	c.Members[2].Put("/s/1", "1")
	s := newCopySink()
	f := open(t, Config{Endpoints: c.Endpoints()}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, c.Members[2], "/s/")

	c.Members[0].Stop()
	c.Members[1].Stop()
	eventually(t, "stale", func() bool { return f.Status().State == Stale })
	if _, have, _ := s.snapshot(); len(have) != 1 {
		t.Errorf("without quorum the copy is %v", have)
	}
	c.Restart()
	eventually(t, "fresh", func() bool { return f.Status().State == Fresh })
	c.Members[0].Put("/s/2", "1")
	s.equals(t, c.Members[0], "/s/")
}

// E26b: one member that is left knows what it has applied.
func TestStartWithoutQuorumTakesTheStateOfOneMember(t *testing.T) {
	t.Parallel() // spends its time waiting for elections
	c := etcdtest.StartCluster(t, 3)
	c.Members[2].Put("/s/1", "1")
	eventually(t, "replication", func() bool {
		resp, err := c.Members[2].Client().Get(t.Context(), "/s/1", clientv3.WithSerializable())
		return err == nil && len(resp.Kvs) == 1
	})
	c.Members[0].Stop()
	c.Members[1].Stop()
	timing := testTiming()
	timing.Call = 500 * time.Millisecond
	s := newCopySink()
	f := open(t, Config{Endpoints: c.Endpoints(), Timing: timing}).Subscribe(Prefix("/s/"), s, Position{})
	eventually(t, "copy", func() bool { _, have, _ := s.snapshot(); return len(have) == 1 })
	if st := f.Status(); st.State != Stale {
		t.Errorf("state is %s", st.State)
	}
	c.Restart()
	eventually(t, "fresh", func() bool { return f.Status().State == Fresh })
	c.Members[0].Put("/s/2", "1")
	s.equals(t, c.Members[0], "/s/")
	if _, _, n := s.snapshot(); n != 1 {
		t.Errorf("listed %d times, want once", n)
	}
}

// What one member says without quorum may be older than a snapshot on disk.
func TestStartWithoutQuorumNeverGoesBack(t *testing.T) {
	t.Parallel() // spends its time waiting for elections
	c := etcdtest.StartCluster(t, 3)
	c.Members[2].Put("/s/1", "1")
	s := newCopySink()
	m := open(t, Config{Endpoints: c.Endpoints()})
	m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, c.Members[2], "/s/")
	m.Close()
	known, _, _ := s.snapshot()
	known.Revision += 10 // of which this member knows nothing
	c.Members[0].Stop()
	c.Members[1].Stop()
	timing := testTiming()
	timing.Call = 200 * time.Millisecond
	f := open(t, Config{Endpoints: c.Endpoints(), Timing: timing}).Subscribe(Prefix("/s/"), s, known)
	eventually(t, "some attempts", func() bool { return f.Status().Err != nil })
	time.Sleep(time.Second) // for whatever might go wrong
	if st := f.Status(); st.State != Stale || st.Position.Revision != known.Revision {
		t.Errorf("status is %+v", st)
	}
	if _, _, n := s.snapshot(); n != 1 {
		t.Errorf("listed %d times, want once", n)
	}
}

// Without a leader leases do not expire. A copy that expired keys by its own clock would take services away in the
// middle of the outage.
func TestLeaseDoesNotExpireWithoutLeader(t *testing.T) {
	t.Parallel() // spends its time waiting for elections
	c := etcdtest.StartCluster(t, 3)
	client := c.Members[2].Client()
	lease, err := client.Grant(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	c.Members[2].Put("/s/leased", "1", clientv3.WithLease(lease.ID))
	s := newCopySink()
	m := open(t, Config{Endpoints: c.Endpoints()})
	f := m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, c.Members[2], "/s/")
	c.Members[0].Stop()
	c.Members[1].Stop()
	eventually(t, "stale", func() bool { return f.Status().State == Stale })
	time.Sleep(3 * time.Second) // the lease has run out by any clock
	if _, have, _ := s.snapshot(); len(have) != 1 {
		t.Fatalf("without a leader the copy is %v", have)
	}
	c.Restart()
	eventually(t, "lease expired by the new leader", func() bool { _, have, _ := s.snapshot(); return len(have) == 0 })
	s.check(t)
}

// E27: the member in use turns into a black hole, with its connections open. Others must take over.
func TestBlackHoledMemberIsLeftForAnother(t *testing.T) {
	t.Parallel() // spends its time waiting for elections
	c := etcdtest.StartCluster(t, 3)
	c.Members[0].Put("/s/0", "1")
	s := newCopySink()
	open(t, Config{Endpoints: c.Endpoints()}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, c.Members[0], "/s/")
	// Whichever is in use, it is one of these; and new connections to them hang.
	c.Members[0].Bridge().Pause()
	c.Members[1].Bridge().Pause()
	c.Members[2].Put("/s/1", "1")
	s.equals(t, c.Members[2], "/s/")
	c.Members[0].Bridge().Heal()
	c.Members[1].Bridge().Heal()
	c.Members[2].Bridge().Pause()
	c.Members[0].Put("/s/2", "1")
	s.equals(t, c.Members[0], "/s/")
}

// A member that is cut off from the others still takes questions, and would go on to say nothing. Whichever member the
// feed uses, once it is cut off.
func TestMemberCutOffFromTheQuorumIsLeftForAnother(t *testing.T) {
	t.Parallel() // spends its time waiting for elections
	c := etcdtest.StartCluster(t, 3)
	c.Members[0].Put("/s/0", "1")
	s, why := newCopySink(), make(relists, 10)
	open(t, Config{Endpoints: c.Endpoints(), OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, c.Members[0], "/s/")
	for i := range c.Members {
		c.Isolate(i)
		other := c.Members[(i+1)%3]
		eventually(t, "leader among the others", func() bool { l := c.Leader(); return l >= 0 && l != i })
		other.Put("/s/"+string(rune('a'+i)), "1")
		s.equals(t, other, "/s/")
		c.Rejoin(i)
		eventually(t, "rejoined", func() bool {
			resp, err := c.Members[i].Client().Get(t.Context(), "/s/"+string(rune('a'+i)))
			return err == nil && len(resp.Kvs) == 1
		})
	}
	why.expectNone(t)
}

func TestStoppedLeaderIsLeftForAnother(t *testing.T) {
	t.Parallel() // spends its time waiting for elections
	c := etcdtest.StartCluster(t, 3)
	c.Members[0].Put("/s/0", "1")
	s, why := newCopySink(), make(relists, 10)
	open(t, Config{Endpoints: c.Endpoints(), OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, c.Members[0], "/s/")
	leader := c.Leader()
	c.Members[leader].Stop()
	other := c.Members[(leader+1)%3]
	other.Put("/s/1", "1")
	s.equals(t, other, "/s/")
	why.expectNone(t)
}

// E27, R19: members are found that the configuration does not name.
func TestReplacedMembersAreFollowed(t *testing.T) {
	t.Parallel() // spends its time waiting for elections
	c := etcdtest.StartCluster(t, 3)
	c.Members[0].Put("/s/0", "1")
	s := newCopySink()
	m := open(t, Config{Endpoints: c.Endpoints()[:2], AutoSync: 20 * time.Millisecond})
	m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, c.Members[0], "/s/")
	eventually(t, "third member found", func() bool {
		return m.conn.lock(t.Context()) == nil && func() bool { defer m.conn.unlock(); return len(m.conn.endpoints) == 3 }()
	})
	c.Members[0].Bridge().Cut()
	c.Members[1].Bridge().Cut()
	c.Members[2].Put("/s/1", "1")
	want, _ := c.Members[2].Dump("/s/")
	eventually(t, "copy by way of the third member", func() bool {
		_, have, _ := s.snapshot()
		return maps.Equal(have, want)
	})
}
