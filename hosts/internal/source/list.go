package source

import (
	"errors"
	"slices"
	"time"
)

// removeTime is how long a file must be gone from its directory before its entries are: programs that save a file
// take it away for a moment.
const removeTime = 100 * time.Millisecond

// list brings files and order up to date with the pattern.
func (f *Files) list(now time.Time) (again time.Duration) {
	paths := []string{f.cfg.Pattern}
	var err error
	if f.cfg.Expand {
		paths, err = expand(f.cfg.Pattern)
	}
	f.noteListError(err)
	if f.blind = err != nil && !errors.Is(err, ErrTooManyFiles); f.blind {
		return 0 // the files that are known stay
	}
	for _, path := range paths {
		delete(f.absent, path)
		if f.files[path] == nil {
			f.files[path] = &file{path: path, kind: f.cfg.Kind, poll: f.cfg.Reload, open: f.open}
		}
	}
	for path := range f.files {
		if slices.Contains(paths, path) || (err == nil && !isRemoved(path)) {
			continue
		}
		since, ok := f.absent[path]
		if !ok {
			f.absent[path], since = now, now
		}
		if wait := removeTime - now.Sub(since); wait > 0 {
			again = sooner(again, wait)
			continue
		}
		delete(f.files, path)
		delete(f.absent, path)
		f.obs.Gone(path)
	}
	f.order = f.order[:0]
	for path := range f.files {
		f.order = append(f.order, path)
	}
	slices.Sort(f.order)
	return again
}

// noteListError reports an error of the pattern, under the name of the pattern.
func (f *Files) noteListError(err error) {
	switch {
	case err != nil:
		f.obs.Failed(f.cfg.Pattern, err, len(f.files) > 0, err.Error() == f.listErr)
		f.listErr = err.Error()
	case f.listErr != "":
		f.listErr = ""
		f.obs.Gone(f.cfg.Pattern)
	}
}
