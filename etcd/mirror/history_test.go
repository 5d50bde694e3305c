package mirror

import (
	"testing"

	"github.com/trident-dns/trident/internal/etcdtest"

	"go.etcd.io/etcd/server/v3/embed"
)

// A store that begins anew with the same members has the same cluster ID: a restored one, as far as a client can tell.
func TestRestoreToAnOlderRevisionIsListedAnew(t *testing.T) {
	e := etcdtest.Start(t)
	for range 10 {
		e.Put("/s/before", "1")
	}
	s, why := newCopySink(), make(relists, 10)
	open(t, Config{Endpoints: []string{e.Endpoint()}, OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	before, _, _ := s.snapshot()

	e.Stop()
	e.Wipe()
	e.Restart()
	e.Put("/s/after", "1")
	s.equals(t, e, "/s/")
	why.expect(t, ReasonRestored)
	after, _, _ := s.snapshot()
	if after.ClusterID != before.ClusterID || after.Revision >= before.Revision {
		t.Fatalf("not a restore: %+v, then %+v", before, after)
	}
	if !after.Follows(before) {
		t.Errorf("%+v does not follow %+v", after, before)
	}
}

// A restored cluster that was written to has a higher revision again, and a lower term.
func TestRestoreThatOvertookTheCopyIsNoticedByItsTerm(t *testing.T) {
	e := etcdtest.Start(t)
	e.Stop() // each start is an election, and so a term
	e.Restart()
	e.Stop()
	e.Restart()
	e.Put("/s/before", "1")
	s, why := newCopySink(), make(relists, 10)
	open(t, Config{Endpoints: []string{e.Endpoint()}, OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")

	e.Bridge().Cut()
	e.Stop()
	e.Wipe()
	e.Restart()
	for range 10 {
		e.Put("/s/after", "1")
	}
	e.Bridge().Heal()
	s.equals(t, e, "/s/")
	why.expect(t, ReasonRestored)
}

func TestAnotherClusterIsListedAnew(t *testing.T) {
	token := "first"
	e := etcdtest.Start(t, func(c *embed.Config) { c.InitialClusterToken = token })
	e.Put("/s/first", "1")
	s, why := newCopySink(), make(relists, 10)
	open(t, Config{Endpoints: []string{e.Endpoint()}, OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")

	e.Stop()
	e.Wipe()
	token = "second"
	e.Restart()
	for range 10 {
		e.Put("/s/second", "1")
	}
	s.equals(t, e, "/s/")
	why.expect(t, ReasonCluster)
}

// A copy from a snapshot is gone on from without a list.
func TestKnownPositionIsResumed(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	first := newCopySink()
	m := open(t, Config{Endpoints: []string{e.Endpoint()}})
	m.Subscribe(Prefix("/s/"), first, Position{})
	first.equals(t, e, "/s/")
	m.Close()
	e.Put("/s/2", "1")
	e.Delete("/s/1")

	m = open(t, Config{Endpoints: []string{e.Endpoint()}})
	f := m.Subscribe(Prefix("/s/"), first, first.at)
	if st := f.Status(); st.State == Starting {
		t.Errorf("state is %s", st.State)
	}
	first.equals(t, e, "/s/")
	if _, _, n := first.snapshot(); n != 1 {
		t.Errorf("listed %d times, want once", n)
	}
}

// What a quiet range was confirmed to equal it may be gone on from, although the revision of its last change is gone.
func TestConfirmedPositionIsResumed(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	s := newCopySink()
	m := open(t, Config{Endpoints: []string{e.Endpoint()}})
	f := m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	elsewhere := e.Put("/t", "1")
	eventually(t, "confirmation", func() bool { return f.Status().Position.Revision >= elsewhere })
	confirmed := f.Status().Position.Revision
	m.Close()
	e.Compact(elsewhere)
	at, _, _ := s.snapshot()
	if at.Revision >= elsewhere {
		t.Fatalf("the copy is of revision %d, the change elsewhere of %d", at.Revision, elsewhere)
	}

	m = open(t, Config{Endpoints: []string{e.Endpoint()}})
	f = m.Resume(Prefix("/s/"), s, at, confirmed)
	if got := f.Status().Position.Revision; got != confirmed {
		t.Errorf("resumed at revision %d, want %d", got, confirmed)
	}
	e.Put("/s/2", "1")
	s.equals(t, e, "/s/")
	if _, _, n := s.snapshot(); n != 1 {
		t.Errorf("listed %d times, want once", n)
	}
}

func TestKnownPositionOfAnotherClusterOrCompactedIsListed(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	for name, known := range map[string]func(Position) Position{
		"another cluster": func(p Position) Position { p.ClusterID++; return p },
		"the future":      func(p Position) Position { p.Revision += 1000; return p },
		"compacted": func(p Position) Position {
			e.Put("/s/2", "1")
			e.Compact(e.Put("/s/2", "2"))
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCopySink()
			m := open(t, Config{Endpoints: []string{e.Endpoint()}})
			m.Subscribe(Prefix("/s/"), s, Position{})
			s.equals(t, e, "/s/")
			m.Close()
			at, _, _ := s.snapshot()
			open(t, Config{Endpoints: []string{e.Endpoint()}}).Subscribe(Prefix("/s/"), s, known(at))
			eventually(t, "second list", func() bool { _, _, n := s.snapshot(); return n == 2 })
			s.equals(t, e, "/s/")
		})
	}
}
