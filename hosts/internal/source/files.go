package source

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// FilesConfig says which files to follow, and how.
type FilesConfig struct {
	Pattern string        // a path; or with Expand a file, a directory or a glob
	Expand  bool          // Pattern is more than a path
	Kind    Kind          // how the files are read
	Reload  time.Duration // how often to look for changes that the system did not tell of; 0 reads the files once
}

// Files is a Source of files on disk.
type Files struct {
	cfg    FilesConfig
	obs    Observer
	parts  atomic.Pointer[[]Part]
	ready  atomic.Bool
	tried  chan struct{}
	cancel context.CancelFunc
	done   chan struct{}

	// What follows belongs to the goroutine.
	files    map[string]*file
	order    []string // keys of files, sorted
	absent   map[string]time.Time
	wake     chan struct{}
	open     opener
	listErr  string // of the last expansion
	pollOnly bool   // the observer knows that the system tells of no changes
	blind    bool   // the last expansion found nothing out
}

// OpenFiles starts to follow the files of cfg. It does not wait for them: see Tried.
func OpenFiles(cfg FilesConfig, obs Observer) *Files { return openFiles(cfg, obs, openFile) }

func openFiles(cfg FilesConfig, obs Observer, open opener) *Files {
	ctx, cancel := context.WithCancel(context.Background())
	f := &Files{
		cfg: cfg, obs: obs, open: open, cancel: cancel,
		tried: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
		files: make(map[string]*file), absent: make(map[string]time.Time),
	}
	f.parts.Store(&[]Part{})
	go f.run(ctx)
	return f
}

// Parts implements Source. They are in the order of the names of the files.
func (f *Files) Parts() []Part { return *f.parts.Load() }

// Tried implements Source.
func (f *Files) Tried() <-chan struct{} { return f.tried }

// Ready implements Source.
func (f *Files) Ready() bool { return f.ready.Load() }

// closeWait bounds how long Close waits for a file system that hangs.
const closeWait = 5 * time.Second

// Close implements Source.
func (f *Files) Close() error {
	f.cancel()
	select {
	case <-f.done:
	case <-time.After(closeWait):
	}
	return nil
}

// eventPause is how long events are collected: a program that writes a file causes one with every write.
const eventPause = 10 * time.Millisecond

func (f *Files) run(ctx context.Context) {
	defer close(f.done)
	defer f.end()
	if f.cfg.Reload == 0 {
		f.pass(ctx)
		close(f.tried)
		<-ctx.Done()
		return
	}
	f.list(time.Now())
	f.watch() // before the reading, so that no change falls between the two
	again := f.pass(ctx)
	close(f.tried)
	timer := time.NewTimer(sooner(again, f.cfg.Reload))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
			select {
			case <-ctx.Done():
				return
			case <-time.After(eventPause):
			}
			f.watch()
		case <-timer.C:
		}
		if again = f.pass(ctx); again == 0 {
			f.watch()
		}
		timer.Reset(sooner(again, f.cfg.Reload))
	}
}

// end tells the observer that nothing is followed any more.
func (f *Files) end() {
	_ = watching.watch(f.wake, nil) // there is nothing to watch
	for _, path := range f.order {
		f.obs.Gone(path)
	}
	f.noteListError(nil)
}

// largeLoad is the size of parsed content from which on the memory used for parsing goes back to the system at once.
// The collector would keep it for a heap that has no reason to grow again before the next reload.
const largeLoad = 4 << 20

// pass looks at every file once. It returns how long until it must look again, 0 for the next poll.
func (f *Files) pass(ctx context.Context) (again time.Duration) {
	now := time.Now()
	again = f.list(now)
	publish, loaded := false, 0
	for _, path := range f.order {
		file := f.files[path]
		start := time.Now()
		out := file.check(ctx, now)
		if ctx.Err() != nil {
			return 0 // closed: what failed is our own doing
		}
		if out.detached {
			f.obs.Detached(path)
		}
		if out.report.Problems() > 0 {
			f.obs.Problems(path, out.report)
		}
		switch out.kind {
		case changed:
			f.obs.Loaded(file.part, time.Since(start))
			loaded += file.part.Size()
			publish = true
		case unchanged:
			f.obs.Unchanged(path)
		case failed:
			f.obs.Failed(path, file.err, file.loaded, out.repeated)
		}
		again = sooner(again, out.again)
	}
	if publish || f.count() != len(f.Parts()) {
		f.publish()
	}
	f.ready.Store(!f.blind && f.settled())
	if loaded >= largeLoad {
		debug.FreeOSMemory()
	}
	return again
}

// count returns how many files are loaded.
func (f *Files) count() int {
	n := 0
	for _, file := range f.files {
		if file.loaded {
			n++
		}
	}
	return n
}

func (f *Files) settled() bool {
	for _, file := range f.files {
		if !file.settled() {
			return false
		}
	}
	return true
}

func (f *Files) publish() {
	parts := make([]Part, 0, len(f.order))
	for _, path := range f.order {
		if file := f.files[path]; file.loaded {
			parts = append(parts, file.part)
		}
	}
	f.parts.Store(&parts)
}

// watch makes the system tell of changes of the files that are known, and of new ones.
func (f *Files) watch() {
	var paths []string
	if f.cfg.Expand {
		paths = append(paths, patternDir(f.cfg.Pattern))
	}
	for _, path := range f.order {
		paths = append(paths, watchPaths(path)...)
	}
	if err := watching.watch(f.wake, paths); err != nil && !f.pollOnly {
		f.pollOnly = true
		f.obs.PollOnly(f.cfg.Pattern, err)
	}
}

// sooner returns the shorter of two waits, of which 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
