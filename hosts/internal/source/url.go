package source

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// URLConfig says which URL to fetch, and how.
type URLConfig struct {
	URL      string // http or https
	Kind     Kind
	Refresh  time.Duration // how often to ask whether it changed
	CacheDir string        // where to keep a copy for the next start; empty for nowhere
}

// URL is a Source of what an HTTP server serves. At start it holds the copy on disk, if there is one: the server may
// be away, or need us to be found.
type URL struct {
	cfg    URLConfig
	name   string // the URL without a password
	obs    Observer
	parts  atomic.Pointer[[]Part]
	ready  atomic.Bool
	tried  chan struct{}
	cancel context.CancelFunc
	done   chan struct{}

	// What follows belongs to the goroutine.
	loaded   bool
	have     validators // of what is loaded
	hash     uint64     // of what is loaded
	failures int        // in a row
	err      error      // of the last attempt
}

// OpenURL starts to follow cfg.URL. Tried is closed once a copy on disk was looked for; it does not wait for the
// network.
func OpenURL(cfg URLConfig, obs Observer) *URL {
	ctx, cancel := context.WithCancel(context.Background())
	u := &URL{
		cfg: cfg, name: redact(cfg.URL), obs: obs, cancel: cancel,
		tried: make(chan struct{}), done: make(chan struct{}),
	}
	u.parts.Store(&[]Part{})
	go u.run(ctx)
	return u
}

// redact returns a URL without the password in it.
func redact(text string) string {
	if parsed, err := url.Parse(text); err == nil {
		return parsed.Redacted()
	}
	return text
}

// Parts implements Source.
func (u *URL) Parts() []Part { return *u.parts.Load() }

// Tried implements Source.
func (u *URL) Tried() <-chan struct{} { return u.tried }

// Ready implements Source. A URL whose server says that there is nothing is known to be missing.
func (u *URL) Ready() bool { return u.ready.Load() }

// Close implements Source. It ends a transfer under way.
func (u *URL) Close() error {
	u.cancel()
	<-u.done
	return nil
}

func (u *URL) run(ctx context.Context) {
	defer close(u.done)
	defer u.obs.Gone(u.name)
	u.loadCopy()
	close(u.tried)
	for {
		u.fetch(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(nextFetch(u.failures, u.cfg.Refresh, rand.Float64())):
		}
	}
}

const (
	firstRetry = time.Second
	maxRetry   = 5 * time.Minute
)

// nextFetch returns how long to wait after so many failures in a row: the refresh interval when there was none, else
// twice as long from failure to failure. random, from 0 to 1, spreads the servers that started together.
func nextFetch(failures int, refresh time.Duration, random float64) time.Duration {
	wait := refresh
	if failures > 0 {
		wait = min(refresh, maxRetry, firstRetry<<min(failures-1, 10))
	}
	return time.Duration(float64(wait) * (0.9 + 0.2*random))
}

// loadCopy loads what an earlier run has left on disk.
func (u *URL) loadCopy() {
	if u.cfg.CacheDir == "" {
		return
	}
	start := time.Now()
	c, err := readCopy(u.cfg)
	if err != nil {
		if !errors.Is(err, errNoCopy) {
			u.obs.NotKept(u.name, err)
		}
		return
	}
	c.part.Name = u.name
	u.take(c, time.Since(start))
}

// fetch asks the server once.
func (u *URL) fetch(ctx context.Context) {
	start := time.Now()
	f, err := fetch(ctx, u.cfg, u.have)
	if ctx.Err() != nil {
		return // closed: what failed is our own doing
	}
	if f.report.Problems() > 0 {
		u.obs.Problems(u.name, f.report)
	}
	if err != nil {
		repeated := u.err != nil && u.err.Error() == err.Error()
		u.failures++
		u.err = err
		if isMissing(err) {
			u.ready.Store(true)
		}
		u.obs.Failed(u.name, err, u.loaded, repeated)
		return
	}
	u.failures, u.err = 0, nil
	if f.copyErr != nil {
		u.obs.NotKept(u.name, f.copyErr)
	}
	if f.notModified || (u.loaded && f.hash == u.hash) {
		if !f.notModified {
			u.have = f.validators
		}
		u.obs.Unchanged(u.name)
		return
	}
	f.part.Name = u.name
	u.take(f.content, time.Since(start))
}

// take makes c what the source holds.
func (u *URL) take(c content, took time.Duration) {
	u.obs.Loaded(c.part, took)
	u.loaded, u.have, u.hash = true, c.validators, c.hash
	u.parts.Store(&[]Part{c.part})
	u.ready.Store(true)
	if c.part.Size() >= largeLoad {
		debug.FreeOSMemory()
	}
}
