package source

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// watcher is the one fsnotify instance of the process: systems allow few of them to a user. It runs while anybody
// has paths to watch. The zero value is ready; all methods may be called from several goroutines.
type watcher struct {
	mu    sync.Mutex
	fs    *fsnotify.Watcher // nil while nobody watches, or when the system gives none
	paths map[string][]chan<- struct{}
	done  chan struct{} // closed when the goroutine of fs has ended
}

var watching watcher

// watch makes wake be signalled when something happens to one of the paths, directories or files, and no longer for
// other paths. A signal is dropped when wake is full. Paths that cannot be watched, because they do not exist for
// example, are left to polling. A watch ends with the file it was set on, so watch is to be called again, with the same
// paths too, after every change. The error says that the system lets nothing be watched.
func (w *watcher) watch(wake chan<- struct{}, paths []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := range w.paths {
		if !slices.Contains(paths, p) {
			w.remove(p, wake)
		}
	}
	if len(paths) > 0 && w.fs == nil {
		if err := w.start(); err != nil {
			return err
		}
	}
	for _, p := range paths {
		w.add(p, wake)
	}
	if len(w.paths) == 0 {
		w.stop()
	}
	return nil
}

func (w *watcher) add(path string, wake chan<- struct{}) {
	if w.fs.Add(path) != nil { // also when it is watched already: the path may lead to another file now
		return
	}
	if !slices.Contains(w.paths[path], wake) {
		w.paths[path] = append(w.paths[path], wake)
	}
}

func (w *watcher) remove(path string, wake chan<- struct{}) {
	w.paths[path] = slices.DeleteFunc(w.paths[path], func(c chan<- struct{}) bool { return c == wake })
	if len(w.paths[path]) == 0 {
		delete(w.paths, path)
		_ = w.fs.Remove(path) // fails when the path is gone, and the watch with it
	}
}

func (w *watcher) start() error {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	w.fs, w.paths, w.done = fs, make(map[string][]chan<- struct{}), make(chan struct{})
	go w.run(fs, w.done)
	return nil
}

// stop ends the watcher. Its goroutine takes the lock, so stop lets go of it while it waits.
func (w *watcher) stop() {
	fs, done := w.fs, w.done
	if fs == nil {
		return
	}
	w.fs = nil
	w.mu.Unlock()
	_ = fs.Close() // nothing to save
	<-done
	w.mu.Lock()
}

// run passes events on until fs is closed.
func (w *watcher) run(fs *fsnotify.Watcher, done chan<- struct{}) {
	defer close(done)
	for {
		select {
		case ev, ok := <-fs.Events:
			if !ok {
				return
			}
			w.signal(ev.Name, filepath.Dir(ev.Name))
		case _, ok := <-fs.Errors:
			if !ok {
				return
			}
			w.signalAll() // an overflow: any event may be missing
		}
	}
}

// signal wakes whoever watches a file or its directory.
func (w *watcher) signal(file, dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.paths[file] {
		wakeUp(c)
	}
	for _, c := range w.paths[dir] {
		wakeUp(c)
	}
}

func (w *watcher) signalAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, cs := range w.paths {
		for _, c := range cs {
			wakeUp(c)
		}
	}
}

func wakeUp(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
