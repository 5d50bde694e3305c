package mirror

import (
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"
)

// relists counts lists after the first by reason.
type relists chan Reason

func (r relists) hook(reason Reason) { r <- reason }

func (r relists) expect(t *testing.T, want Reason) {
	t.Helper()
	select {
	case got := <-r:
		if got != want {
			t.Errorf("listed because of %s, want %s", got, want)
		}
	case <-time.After(etcdtest.Wait):
		t.Fatalf("not listed again because of %s", want)
	}
}

func (r relists) expectNone(t *testing.T) {
	t.Helper()
	select {
	case got := <-r:
		t.Errorf("listed again because of %s", got)
	default:
	}
}

// The key that was deleted before the compaction has no event any more: only a list can tell.
func TestCompactionWhileDisconnectedTakesDeletedKeysAway(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/stays", "1")
	e.Put("/s/goes", "1")
	s, why := newCopySink(), make(relists, 10)
	f := open(t, Config{Endpoints: []string{e.Endpoint()}, OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")

	e.Bridge().Cut()
	e.Delete("/s/goes")
	e.Put("/s/stays", "2")
	e.Compact(e.Put("/s/new", "1"))
	if _, have, _ := s.snapshot(); have["/s/goes"] != "1" {
		t.Errorf("cut off, the copy is %v", have)
	}
	e.Bridge().Heal()
	s.equals(t, e, "/s/")
	why.expect(t, ReasonCompacted)
	why.expectNone(t)
	eventually(t, "fresh", func() bool { return f.Status().State == Fresh })
}

// A quiet range whose last change was long ago must not need a list after a compaction: progress keeps its resume
// revision ahead.
func TestCompactionWhileQuietNeedsNoList(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/quiet", "1")
	s, why := newCopySink(), make(relists, 10)
	f := open(t, Config{Endpoints: []string{e.Endpoint()}, OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")

	var rev int64
	for range 100 {
		rev = e.Put("/elsewhere", "busy")
	}
	eventually(t, "progress", func() bool { return f.Status().Position.Revision >= rev })
	e.Bridge().Cut()
	e.Compact(rev)
	eventually(t, "break noticed", func() bool { return f.Status().Err != nil })
	e.Bridge().Heal()
	e.Put("/s/quiet", "2")
	s.equals(t, e, "/s/")
	why.expectNone(t)
}

func TestRestartOfEtcdIsResumedWithoutList(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	s, why := newCopySink(), make(relists, 10)
	f := open(t, Config{Endpoints: []string{e.Endpoint()}, OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	for i := range 3 {
		e.Stop()
		eventually(t, "break noticed", func() bool { return f.Status().Err != nil })
		if _, have, _ := s.snapshot(); len(have) != 1+i {
			t.Errorf("without etcd the copy is %v", have)
		}
		e.Restart()
		e.Put("/s/"+string(rune('a'+i)), "1")
		s.equals(t, e, "/s/")
	}
	why.expectNone(t)
	if _, _, n := s.snapshot(); n != 1 {
		t.Errorf("listed %d times, want once", n)
	}
}

func TestEtcdAwayAtStartIsCopiedWhenItAppears(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	e.Stop()
	s := newCopySink()
	f := open(t, Config{Endpoints: []string{e.Direct()}}).Subscribe(Prefix("/s/"), s, Position{})
	eventually(t, "failure reported", func() bool { return f.Status().Err != nil })
	if st := f.Status(); st.State != Starting || !strings.Contains(st.Err.Error(), "refused") {
		t.Errorf("status is %+v", st)
	}
	e.Restart()
	s.equals(t, e, "/s/")
}

func TestLostEtcdMakesTheCopyStaleAndKeepsIt(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	timing := testTiming()
	timing.StaleAfter = 300 * time.Millisecond
	s := newCopySink()
	f := open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	e.Bridge().Cut()
	eventually(t, "stale", func() bool { return f.Status().State == Stale && f.Status().Err != nil })
	if lag := f.Status().Lag(time.Now()); lag < timing.StaleAfter {
		t.Errorf("lag is %v", lag)
	}
	if _, have, _ := s.snapshot(); len(have) != 1 {
		t.Errorf("the copy is %v", have)
	}
	e.Bridge().Heal()
	eventually(t, "fresh", func() bool { return f.Status().State == Fresh })
	e.Put("/s/2", "1")
	s.equals(t, e, "/s/")
}

// A paused member keeps its connections open, so that only the silence of the stream tells.
func TestPausedMemberIsNoticedBySilence(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	s := newCopySink()
	f := open(t, Config{Endpoints: []string{e.Endpoint()}}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	e.Bridge().Pause()
	e.Put("/s/2", "1")
	eventually(t, "silence noticed", func() bool { return f.Status().Err != nil })
	e.Bridge().Heal()
	s.equals(t, e, "/s/")
}

func TestCloseWhileEtcdIsAwayOrSilentReturns(t *testing.T) {
	for name, fail := range map[string]func(*etcdtest.Etcd){
		"cut":    func(e *etcdtest.Etcd) { e.Bridge().Cut() },
		"paused": func(e *etcdtest.Etcd) { e.Bridge().Pause() },
	} {
		t.Run(name, func(t *testing.T) {
			e := etcdtest.Start(t)
			e.EnableAuth()
			fail(e)
			m := open(t, Config{Endpoints: []string{e.Endpoint()}, Login: fixedLogin("root", etcdtest.RootPassword)})
			m.Subscribe(Prefix("/s/"), newCopySink(), Position{})
			time.Sleep(20 * time.Millisecond) // into the middle of an attempt: any moment must do
			closed := make(chan struct{})
			go func() { m.Close(); close(closed) }()
			select {
			case <-closed:
			case <-time.After(etcdtest.Wait):
				t.Fatal("Close does not return")
			}
		})
	}
}

func fixedLogin(user, password string) func() (Login, error) {
	return func() (Login, error) { return Login{user, password}, nil }
}
