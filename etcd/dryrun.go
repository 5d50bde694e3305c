package etcd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/trident-dns/trident/internal/trial"
	"github.com/trident-dns/trident/plugin/backend"

	"github.com/trident-dns/trident/etcd/mirror"
	"github.com/trident-dns/trident/etcd/snapshot"
)

// tests are what can be tried of the block without serving it: each endpoint is asked for the keys of the zones, with the
// credentials and certificates of the block. An etcd inside the process is not started.
func (cfg *config) tests() []trial.Test {
	all := trial.Certificates(cfg.tlsArgs)
	if cfg.embed != nil {
		all = append(all, localTest("embed "+cfg.embed.Dir, func() trial.Finding { return lookAtEmbedDir(cfg.embed.Dir) }))
		if cfg.embed.Seed != "" {
			all = append(all, localTest("embed "+cfg.embed.Seed, func() trial.Finding { return lookAtSeed(cfg.embed.Seed) }))
		}
	} else {
		all = append(all, trial.Test{
			Subject: "endpoint " + strings.Join(cfg.etcdEndpoints(), " "), Network: true, Run: cfg.probe,
		})
	}
	if cfg.snapshot != "" {
		all = append(all, localTest("snapshot "+cfg.snapshot, func() trial.Finding { return lookAtSnapshot(cfg.snapshot) }))
	}
	return all
}

func localTest(subject string, look func() trial.Finding) trial.Test {
	return trial.Test{Subject: subject, Run: func(context.Context) []trial.Finding { return []trial.Finding{look()} }}
}

// probe asks one endpoint after the other. As long as one answers there are records to serve.
func (cfg *config) probe(ctx context.Context) []trial.Finding {
	var all []trial.Finding
	answering := 0
	ranges := cfg.ranges()
	for _, endpoint := range cfg.etcdEndpoints() {
		var f trial.Finding
		counts, err := mirror.Probe(ctx, cfg.mirrorConfig([]string{endpoint}), ranges)
		if err != nil {
			f = trial.Found(trial.Problem, "%v", err)
		} else {
			answering++
			f = found(ranges, counts)
		}
		f.Subject = "endpoint " + endpoint
		all = append(all, f)
	}
	if answering > 0 {
		for i := range all {
			all[i].Level = min(all[i].Level, trial.Warning)
		}
	}
	return all
}

// found says how many keys were found in the ranges.
func found(ranges []mirror.Range, counts []int64) trial.Finding {
	var text []string
	var all int64
	for i, r := range ranges {
		all += counts[i]
		text = append(text, fmt.Sprintf("%s %d", r, counts[i]))
	}
	level := trial.OK
	if all == 0 {
		level = trial.Warning
	}
	return trial.Found(level, "answers, keys: %s", strings.Join(text, ", "))
}

// ranges are those that the block would copy.
func (cfg *config) ranges() []mirror.Range {
	zones := newEtcd(cfg).zones
	var all []mirror.Range
	seen := make(map[*backend.Zone]bool)
	for _, z := range cfg.zones {
		top := zones.top(backend.NewZone(z).Name)
		if seen[top] {
			continue
		}
		seen[top] = true
		s := source{zone: top, prefix: cfg.prefix}
		all = append(all, s.below())
		if key, ok := s.apexKey(); ok {
			all = append(all, mirror.Single(key))
		}
	}
	return all
}

// lookAtSnapshot reads the snapshot that a start would begin with.
func lookAtSnapshot(path string) trial.Finding {
	f, err := snapshot.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return lookAtDir(filepath.Dir(path))
	case err != nil:
		return trial.Found(trial.Warning, "of no use: %v", err)
	}
	defer func() { _ = f.Close() }() // was only read
	var keys int64
	for _, s := range f.Sections {
		keys += s.At.Keys
	}
	return trial.Found(trial.OK, "%d keys in %d ranges", keys, len(f.Sections))
}

// lookAtDir says whether a snapshot can be written to dir, as far as that can be told without trying.
func lookAtDir(dir string) trial.Finding {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return trial.Found(trial.Warning, "cannot be written: %v", err)
	case !info.IsDir():
		return trial.Found(trial.Warning, "cannot be written: %s is not a directory", dir)
	}
	return trial.Found(trial.OK, "not written yet, its directory is there")
}

// lookAtEmbedDir says whether an etcd can keep its data in dir.
func lookAtEmbedDir(dir string) trial.Finding {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return trial.Found(trial.OK, "will be made; etcd is not started by a check")
	case err != nil:
		return trial.Found(trial.Problem, "%v", err)
	case !info.IsDir():
		return trial.Found(trial.Problem, "not a directory")
	}
	return trial.Found(trial.OK, "is there; etcd is not started by a check")
}

func lookAtSeed(path string) trial.Finding {
	if _, err := os.ReadFile(path); err != nil {
		return trial.Found(trial.Problem, "%v", err)
	}
	return trial.Found(trial.OK, "can be read")
}
