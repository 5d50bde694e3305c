package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/trident-dns/trident/hosts/internal/source"
	"github.com/trident-dns/trident/internal/trial"
)

// tests are what can be tried of the block without serving it: everything that it names is read once.
func (cfg *config) tests() []trial.Test {
	var all []trial.Test
	if cfg.file != "" {
		all = append(all, cfg.fileTest("file", cfg.file, false, source.Hosts))
	}
	for _, pattern := range cfg.files {
		all = append(all, cfg.fileTest("file", pattern, true, source.Hosts))
	}
	for _, url := range cfg.urls {
		all = append(all, cfg.urlTest("url", url, source.Hosts))
	}
	for _, lists := range []struct {
		property string
		names    []string
	}{{"block", cfg.blockLists}, {"allow", cfg.allowLists}} {
		for _, name := range lists.names {
			if isURL(name) {
				all = append(all, cfg.urlTest(lists.property, name, source.List))
				continue
			}
			all = append(all, cfg.fileTest(lists.property, name, true, source.List))
		}
	}
	if cfg.cacheDir != "" {
		all = append(all, trial.Test{Subject: "cache_dir " + cfg.cacheDir, Run: func(context.Context) []trial.Finding {
			return []trial.Finding{lookAtCacheDir(cfg.cacheDir)}
		}})
	}
	return all
}

func (cfg *config) fileTest(property, pattern string, expand bool, kind source.Kind) trial.Test {
	subject := property + " " + pattern
	return trial.Test{Subject: subject, Run: func(ctx context.Context) []trial.Finding {
		looks, err := source.LookAtFiles(ctx, source.FilesConfig{Pattern: pattern, Expand: expand, Kind: kind})
		var found []trial.Finding
		switch {
		case err != nil:
			found = append(found, trial.Found(trial.Problem, "%v", err))
		case len(looks) == 0:
			found = append(found, trial.Found(trial.Warning, "no file matches"))
		}
		for _, l := range looks {
			f := judge(l)
			if l.Name != pattern {
				f.Subject = fmt.Sprintf("%s, %s", subject, l.Name)
			}
			if errors.Is(l.Err, fs.ErrNotExist) && pattern == defaultFile {
				f.Level = trial.Warning // nobody has asked for it by name
			}
			found = append(found, f)
		}
		return found
	}}
}

func (cfg *config) urlTest(property, url string, kind source.Kind) trial.Test {
	return trial.Test{Subject: property + " " + redacted(url), Network: true, Run: func(ctx context.Context) []trial.Finding {
		return []trial.Finding{judge(source.LookAtURL(ctx, source.URLConfig{URL: url, Kind: kind, CacheDir: cfg.cacheDir}))}
	}}
}

// judge says what a look at a source means. A source with lines that cannot be used serves the others.
func judge(l source.Look) trial.Finding {
	switch bad := l.Report.Problems(); {
	case l.Err != nil && l.Copied >= 0:
		return trial.Found(trial.Warning, "the copy on disk with %d entries is served meanwhile: %v", l.Copied, l.Err)
	case l.Err != nil:
		return trial.Found(trial.Problem, "%v", l.Err)
	case bad > 0:
		return trial.Found(trial.Warning, "%d entries, and %d that cannot be used: %s", l.Entries, bad, l.Report.First[0])
	case l.Entries == 0:
		return trial.Found(trial.Warning, "no entries")
	}
	return trial.Found(trial.OK, "%d entries", l.Entries)
}

// lookAtCacheDir says whether copies can be kept in dir, as far as that can be told without trying.
func lookAtCacheDir(dir string) trial.Finding {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return trial.Found(trial.OK, "will be made")
	case err != nil:
		return trial.Found(trial.Problem, "%v", err)
	case !info.IsDir():
		return trial.Found(trial.Problem, "not a directory")
	}
	return trial.Found(trial.OK, "is there")
}
