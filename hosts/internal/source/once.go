package source

import (
	"context"
	"time"

	"github.com/trident-dns/trident/hosts/internal/hostsfile"
)

// Look is what one look at a file or URL came to.
type Look struct {
	Name    string // the path, or the URL without a password
	Entries int    // loaded, if Err is nil
	Report  hostsfile.Report
	Err     error
	Copied  int // entries of the copy on disk that stands in for a URL that fails; -1 for no copy
}

// LookAtFiles reads the files of cfg once and keeps nothing. The error is that of the pattern.
func LookAtFiles(ctx context.Context, cfg FilesConfig) ([]Look, error) {
	paths := []string{cfg.Pattern}
	var err error
	if cfg.Expand {
		paths, err = expand(cfg.Pattern)
	}
	var looks []Look
	for _, path := range paths {
		f := file{path: path, kind: cfg.Kind, open: openFile}
		out := f.check(ctx, time.Now())
		l := Look{Name: path, Report: out.report, Err: f.err, Copied: -1}
		if f.loaded {
			l.Entries = f.part.Entries()
		}
		looks = append(looks, l)
	}
	return looks, err
}

// LookAtURL fetches the URL of cfg once. It reads a copy on disk when that fails, and writes none.
func LookAtURL(ctx context.Context, cfg URLConfig) Look {
	unkept := cfg
	unkept.CacheDir = ""
	f, err := fetch(ctx, unkept, validators{})
	l := Look{Name: redact(cfg.URL), Report: f.report, Err: err, Copied: -1}
	if err == nil {
		l.Entries = f.part.Entries()
		return l
	}
	if cfg.CacheDir != "" {
		if c, err := readCopy(cfg); err == nil {
			l.Copied = c.part.Entries()
		}
	}
	return l
}
