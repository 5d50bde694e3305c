package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFiles bounds how many files one pattern stands for: every one of them is asked for every name.
const maxFiles = 256

// ErrTooManyFiles says that a pattern matches more than 256 files, of which only the first, by name, are used.
var ErrTooManyFiles = errors.New("too many files")

// CheckPattern reports whether pattern can be expanded.
func CheckPattern(pattern string) error {
	_, err := filepath.Match(pattern, "")
	return err
}

// expand returns the files that pattern stands for, sorted: those in it when it is a directory, those it matches when
// it is a glob, else itself, whether there is such a file or not. Directories inside and hidden files, which are where
// editors and ConfigMap volumes keep theirs, are left out. With ErrTooManyFiles the first of them are returned.
func expand(pattern string) ([]string, error) {
	var paths []string
	fi, err := os.Stat(pattern)
	switch {
	case err == nil && fi.IsDir():
		entries, err := os.ReadDir(pattern)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			paths = append(paths, filepath.Join(pattern, e.Name()))
		}
	case err == nil || !strings.ContainsAny(pattern, `*?[\`):
		return []string{pattern}, nil
	default:
		if paths, err = filepath.Glob(pattern); err != nil {
			return nil, err
		}
	}
	paths = slices.DeleteFunc(paths, func(p string) bool {
		if strings.HasPrefix(filepath.Base(p), ".") {
			return true
		}
		fi, err := os.Stat(p)
		return err == nil && !fi.Mode().IsRegular() // a link to nowhere stays: the error belongs in the log
	})
	slices.Sort(paths)
	if len(paths) > maxFiles {
		return paths[:maxFiles], fmt.Errorf("%w: %d, the first %d are used", ErrTooManyFiles, len(paths), maxFiles)
	}
	return paths, nil
}

// isRemoved reports whether path was taken out of its directory, as opposed to the directory being away as well or
// out of reach.
func isRemoved(path string) bool {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err := os.ReadDir(filepath.Dir(path))
	return err == nil
}

// watchPaths returns what has to be watched to notice every change of the file at path: the directory that names it,
// that of the file it leads to when it is a link, and the file itself, which a mount may show without its directory.
func watchPaths(path string) []string {
	dirs := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		dirs = append(dirs, target)
		if dir := filepath.Dir(target); dir != dirs[0] {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// patternDir returns the directory whose changes decide what pattern stands for: itself, or the one above its first
// element with a meta character.
func patternDir(pattern string) string {
	if fi, err := os.Stat(pattern); err == nil && fi.IsDir() {
		return pattern
	}
	dir := filepath.Dir(pattern)
	for strings.ContainsAny(dir, `*?[`) {
		dir = filepath.Dir(dir)
	}
	return dir
}
