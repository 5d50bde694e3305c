package mirror

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"
)

// E29: the login is renewed in the background, never while a question waits.
func TestExpiredTokenIsRenewed(t *testing.T) {
	t.Parallel() // spends its time waiting for the token
	e := etcdtest.Start(t, etcdtest.TokenTTL(1))
	e.Put("/s/1", "1")
	e.EnableAuth()
	e.AddUser("reader", "secret", "/s/")
	s := newCopySink()
	timing := testTiming()
	timing.Audit = 100 * time.Millisecond // a unary call, with whatever token there is
	m := open(t, Config{Endpoints: []string{e.Endpoint()}, Timing: timing, Login: fixedLogin("reader", "secret")})
	f := m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")

	// Tokens that nobody uses expire after a second; etcd looks every second. The watch is not asked for one.
	time.Sleep(3 * time.Second)
	e.Put("/s/2", "1")
	s.equals(t, e, "/s/")
	if st := f.Status(); st.State != Fresh {
		t.Errorf("state is %s: %v", st.State, st.Err)
	}
	e.Bridge().Drop()
	e.Put("/s/3", "1")
	s.equals(t, e, "/s/")
	if _, _, n := s.snapshot(); n != 1 {
		t.Errorf("listed %d times, want once", n)
	}
}

// A member that restarts has forgotten every simple token.
func TestTokenOfARestartedMemberIsRenewed(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	e.EnableAuth()
	s := newCopySink()
	open(t, Config{Endpoints: []string{e.Endpoint()}, Login: fixedLogin("root", etcdtest.RootPassword)}).
		Subscribe(Prefix("/s/"), s, Position{})
	eventually(t, "copy", func() bool { _, have, _ := s.snapshot(); return len(have) == 1 })
	e.Stop()
	e.Restart()
	e.LoginAsRoot()
	e.Put("/s/2", "1")
	s.equals(t, e, "/s/")
}

func TestRevokedRightKeepsTheCopyAndReturns(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	e.EnableAuth()
	e.AddUser("reader", "secret", "/s/")
	s := newCopySink()
	f := open(t, Config{Endpoints: []string{e.Endpoint()}, Login: fixedLogin("reader", "secret")}).
		Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	e.Revoke("reader", "/s/")
	e.Bridge().Drop()
	eventually(t, "revocation noticed", func() bool { return kind(f.Status().Err) == "permission" })
	eventually(t, "stale", func() bool { return f.Status().State == Stale })
	if _, have, n := s.snapshot(); len(have) != 1 || n != 1 {
		t.Errorf("without the right the copy is %v", have)
	}
	e.Grant("reader", "/s/")
	e.Put("/s/2", "1")
	s.equals(t, e, "/s/")
	eventually(t, "fresh", func() bool { return f.Status().State == Fresh })
}

// A right that is missing for one range must not hold up another.
func TestRangesWithoutRightsLeaveOthersAlone(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/mine/1", "1")
	e.Put("/other/1", "1")
	e.EnableAuth()
	e.AddUser("reader", "secret", "/mine/")
	mine, other := newCopySink(), newCopySink()
	m := open(t, Config{Endpoints: []string{e.Endpoint()}, Login: fixedLogin("reader", "secret")})
	forbidden := m.Subscribe(Prefix("/other/"), other, Position{})
	m.Subscribe(Prefix("/mine/"), mine, Position{})
	mine.equals(t, e, "/mine/")
	eventually(t, "refusal", func() bool { return kind(forbidden.Status().Err) == "permission" })
	if st := m.Status(); st.State != Starting {
		t.Errorf("the mirror says %s, one of its feeds has nothing", st.State)
	}
}

func TestRotatedPasswordIsReadAgain(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	e.EnableAuth()
	e.AddUser("reader", "old", "/s/")
	var mu sync.Mutex
	password := "old"
	login := func() (Login, error) {
		mu.Lock()
		defer mu.Unlock()
		if password == "" {
			return Login{}, errors.New("file is being replaced")
		}
		return Login{"reader", password}, nil
	}
	set := func(p string) {
		mu.Lock()
		defer mu.Unlock()
		password = p
	}
	s := newCopySink()
	f := open(t, Config{Endpoints: []string{e.Endpoint()}, Login: login}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")

	e.SetPassword("reader", "new")
	e.Bridge().Drop()
	eventually(t, "refusal", func() bool { return kind(f.Status().Err) == "login" })
	set("")
	eventually(t, "unreadable file", func() bool { return kind(f.Status().Err) == kindAway })
	set("new")
	e.Put("/s/2", "1")
	s.equals(t, e, "/s/")
}
