package source

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// site is an HTTP server whose answers the test writes.
type site struct {
	*httptest.Server
	handler  atomic.Pointer[http.HandlerFunc]
	requests atomic.Int32
}

func newSite(t *testing.T) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		(*s.handler.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	s.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	return s
}

func (s *site) answer(f http.HandlerFunc) { s.handler.Store(&f) }

func (s *site) serve(text string) {
	s.answer(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

// open follows a URL and waits for the copy on disk to be looked for.
func open(t *testing.T, cfg URLConfig) (*URL, *recorder) {
	t.Helper()
	r := &recorder{}
	u := OpenURL(cfg, r)
	t.Cleanup(func() {
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	})
	<-u.Tried()
	return u, r
}

const often = 10 * time.Millisecond

func TestAURLIsFetchedAndFollowed(t *testing.T) {
	s := newSite(t)
	s.serve("10.0.0.1 a\n")
	u, r := open(t, URLConfig{URL: s.URL, Refresh: often})
	within(t, patient, "loaded", func() bool { return addrs(t, u, "a.") == "10.0.0.1" && u.Ready() })
	s.serve("10.0.0.2 a\n")
	within(t, patient, "changed", func() bool { return addrs(t, u, "a.") == "10.0.0.2" })
	within(t, patient, "unchanged", func() bool { return len(r.all()) > 2 && strings.HasPrefix(r.all()[2], "unchanged") })
}

func TestTheServerIsAskedOnlyForChanges(t *testing.T) {
	s := newSite(t)
	var full, conditional atomic.Int32
	const tag, modified = `"v1"`, "Mon, 30 Nov 2026 10:00:00 GMT"
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == tag && r.Header.Get("If-Modified-Since") == modified {
			conditional.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		full.Add(1)
		w.Header().Set("ETag", tag)
		w.Header().Set("Last-Modified", modified)
		_, _ = io.WriteString(w, "10.0.0.1 a\n")
	})
	dir := t.TempDir()
	u, _ := open(t, URLConfig{URL: s.URL, Refresh: often, CacheDir: dir})
	within(t, patient, "asked again", func() bool { return conditional.Load() > 1 })
	if full.Load() != 1 || addrs(t, u, "a.") != "10.0.0.1" {
		t.Errorf("%d full answers, %q", full.Load(), addrs(t, u, "a."))
	}
	// The validators are in the copy too.
	before := conditional.Load()
	second, _ := open(t, URLConfig{URL: s.URL, Refresh: slow, CacheDir: dir})
	within(t, patient, "asked by the second", func() bool { return conditional.Load() > before })
	if full.Load() != 1 || addrs(t, second, "a.") != "10.0.0.1" {
		t.Errorf("after a restart: %d full answers, %q", full.Load(), addrs(t, second, "a."))
	}
}

func TestTheCopyServesWhileTheNetworkIsAway(t *testing.T) {
	s := newSite(t)
	s.serve("10.0.0.1 a\n")
	cfg := URLConfig{URL: s.URL, Refresh: slow, CacheDir: filepath.Join(t.TempDir(), "made", "for it")}
	u, _ := open(t, cfg)
	within(t, patient, "loaded", u.Ready)
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	u, r := open(t, cfg)
	if got := addrs(t, u, "a."); got != "10.0.0.1" || !u.Ready() {
		t.Errorf("right after the start: %q, ready %t", got, u.Ready())
	}
	within(t, patient, "reported", func() bool { return strings.HasPrefix(r.all()[len(r.all())-1], "failed") })
	if got := addrs(t, u, "a."); got != "10.0.0.1" {
		t.Errorf("after the attempt: %q", got)
	}
}

// Whatever a server does wrong, the last good content stays and the next good one is taken.
func TestBadAnswersKeepTheEntries(t *testing.T) {
	for name, bad := range map[string]http.HandlerFunc{
		"an error":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"not found":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"nothing":    func(http.ResponseWriter, *http.Request) {},
		"a web page": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>\nlogin\n</html>\n") },
		"half of what it announced": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "10.0.0.2 a\n")
		},
		"a chunk and a broken connection": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "10.0.0.2 a\n")
			if err := http.NewResponseController(w).Flush(); err != nil {
				panic(err)
			}
			panic(http.ErrAbortHandler)
		},
		"a redirect to another scheme": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://"+r.Host+"/", http.StatusFound)
		},
		"a redirect without end": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		},
		"a redirect to a file": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "file:///etc/hosts")
			w.WriteHeader(http.StatusFound)
		},
		"not modified, unasked": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.serve("10.0.0.1 a\n")
			dir := t.TempDir()
			u, r := open(t, URLConfig{URL: s.URL, Refresh: often, CacheDir: dir})
			within(t, patient, "loaded", u.Ready)
			s.answer(bad)
			failed := func() bool {
				for _, e := range r.all() {
					if strings.HasPrefix(e, "failed") {
						return strings.HasSuffix(e, "kept=true")
					}
				}
				return false
			}
			within(t, patient, "reported", failed)
			if got := addrs(t, u, "a."); got != "10.0.0.1" || !u.Ready() {
				t.Errorf("%q, ready %t", got, u.Ready())
			}
			if c, err := readCopy(u.cfg); err != nil || c.part.Entries() != 1 {
				t.Errorf("the copy: %v, %v", c.part, err)
			}
			s.serve("10.0.0.3 a\n")
			within(t, patient, "healed", func() bool { return addrs(t, u, "a.") == "10.0.0.3" })
			if err := u.Close(); err != nil { // no transfer is under way any more
				t.Fatal(err)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 {
				t.Errorf("left in the directory: %v, %v", left, err)
			}
		})
	}
}

func TestARedirectIsFollowed(t *testing.T) {
	s := newSite(t)
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "10.0.0.1 a\n")
	})
	u, _ := open(t, URLConfig{URL: s.URL + "/here", Refresh: slow})
	within(t, patient, "loaded", func() bool { return addrs(t, u, "a.") == "10.0.0.1" })
}

func TestReadiness(t *testing.T) {
	s := newSite(t)
	u, r := open(t, URLConfig{URL: s.URL, Refresh: slow})
	within(t, patient, "tried", func() bool { return len(r.all()) > 0 })
	if u.Ready() {
		t.Error("ready although the server failed and there is no copy")
	}
	s.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	within(t, patient, "ready: it is known that there is nothing", u.Ready)
}

func TestCloseEndsATransfer(t *testing.T) {
	s := newSite(t)
	hanging := make(chan struct{})
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "10.0.0.1 a\n")
		_ = http.NewResponseController(w).Flush()
		close(hanging)
		<-r.Context().Done()
	})
	r := &recorder{}
	u := OpenURL(URLConfig{URL: s.URL, Refresh: slow}, r)
	<-hanging
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if len(u.Parts()) != 0 || len(r.all()) != 1 {
		t.Errorf("%d parts, %v", len(u.Parts()), r.all())
	}
}

func TestPasswordsAreNotInNames(t *testing.T) {
	s := newSite(t)
	s.serve("10.0.0.1 a\n")
	u, _ := open(t, URLConfig{URL: strings.Replace(s.URL, "http://", "http://user:secret@", 1), Refresh: slow})
	within(t, patient, "loaded", u.Ready)
	if name := u.Parts()[0].Name; strings.Contains(name, "secret") || !strings.Contains(name, "user") {
		t.Errorf("the name is %q", name)
	}
}

func TestABodyThatDoesNotEnd(t *testing.T) {
	r := &boundedReader{r: strings.NewReader(strings.Repeat("x", 100)), left: 99}
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	r = &boundedReader{r: strings.NewReader(strings.Repeat("x", 100)), left: 100}
	if n, err := io.Copy(io.Discard, r); n != 100 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestNextFetch(t *testing.T) {
	for _, tt := range []struct {
		failures int
		refresh  time.Duration
		random   float64
		want     time.Duration
	}{
		{0, time.Hour, 0.5, time.Hour},
		{0, time.Hour, 0, 54 * time.Minute},
		{0, time.Hour, 1, 66 * time.Minute},
		{1, time.Hour, 0.5, time.Second},
		{2, time.Hour, 0.5, 2 * time.Second},
		{6, time.Hour, 0.5, 32 * time.Second},
		{1000, time.Hour, 0.5, maxRetry},
		{1000, time.Minute, 0.5, time.Minute},
	} {
		if got := nextFetch(tt.failures, tt.refresh, tt.random); got.Round(time.Millisecond) != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// A server that is away is asked again soon at first, and seldom later.
func TestRetriesBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		u := OpenURL(URLConfig{URL: "bad scheme://", Refresh: 24 * time.Hour}, r)
		count := func() int {
			synctest.Wait()
			if err := u.Close(); err != nil {
				t.Error(err)
			}
			return u.failures
		}
		time.Sleep(time.Hour)
		if n := count(); n < 15 || n > 30 {
			t.Errorf("%d attempts in an hour", n)
		}
	})
}
