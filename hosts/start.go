package hosts

import (
	"fmt"
	"strings"
	"time"

	"github.com/trident-dns/trident/hosts/internal/source"
	"github.com/trident-dns/trident/internal/shared"
)

// pool keeps the sources of all configurations: what two of them, or two of their blocks, have in common is read once.
var pool shared.Pool[source.Source]

// startWait bounds how long a start waits for files: a file system that hangs must not keep the server from starting.
const startWait = 10 * time.Second

// start opens the sources of the block and waits until each has been tried once.
func (h *Hosts) start(owner *shared.Owner) error {
	o := &opened{cfg: &h.config, owner: owner}
	c := &content{started: true}
	if h.file != "" {
		c.sources = append(c.sources, o.files(h.file, false, source.Hosts))
	}
	for _, pattern := range h.files {
		c.sources = append(c.sources, o.files(pattern, true, source.Hosts))
	}
	for _, url := range h.urls {
		c.sources = append(c.sources, o.url(url, source.Hosts))
	}
	if len(h.inline) > 0 {
		c.sources = append(c.sources, o.inline(h.inline))
	}
	c.block, c.allow = o.lists(h.blockLists), o.lists(h.allowLists)
	if o.err != nil {
		return o.err
	}
	o.wait()
	h.content.Store(c)
	return nil
}

// opened acquires sources from the pool. After the first error it does nothing more.
type opened struct {
	cfg   *config
	owner *shared.Owner
	all   []source.Source
	err   error
}

func (o *opened) files(pattern string, expand bool, kind source.Kind) source.Source {
	cfg := source.FilesConfig{Pattern: pattern, Expand: expand, Kind: kind, Reload: o.cfg.reload}
	return o.acquire(fmt.Sprintf("files %#v", cfg), func() (source.Source, error) {
		return source.OpenFiles(cfg, newObserver()), nil
	})
}

func (o *opened) url(url string, kind source.Kind) source.Source {
	cfg := source.URLConfig{URL: url, Kind: kind, Refresh: o.cfg.urlRefresh, CacheDir: o.cfg.cacheDir}
	return o.acquire(fmt.Sprintf("url %#v", cfg), func() (source.Source, error) {
		return source.OpenURL(cfg, newObserver()), nil
	})
}

// lists opens lists to block or to allow.
func (o *opened) lists(names []string) []list {
	var all []list
	for _, name := range names {
		if isURL(name) {
			all = append(all, list{redacted(name), o.url(name, source.List)})
			continue
		}
		all = append(all, list{name, o.files(name, true, source.List)})
	}
	return all
}

// inline opens the hosts lines of the Corefile.
func (o *opened) inline(lines []string) source.Source {
	return o.acquire("inline "+strings.Join(lines, "\n"), func() (source.Source, error) {
		p, err := inlinePart(lines)
		if err != nil {
			return nil, err
		}
		entries.WithLabelValues(inlineName).Add(float64(p.Entries()))
		return &inlineLines{source.NewStatic(p)}, nil
	})
}

// inlinePart parses hosts lines of the Corefile, which were checked when it was read.
func inlinePart(lines []string) (source.Part, error) {
	text := strings.Join(lines, "\n")
	p, report, err := source.Parse(inlineName, source.Hosts, strings.NewReader(text), int64(len(text)))
	if err == nil && report.Problems() > 0 {
		err = fmt.Errorf("hosts lines of the Corefile: %v", report.First[0])
	}
	return p, err
}

func (o *opened) acquire(key string, open func() (source.Source, error)) source.Source {
	if o.err != nil {
		return nil
	}
	var s source.Source
	if s, o.err = pool.Acquire(o.owner, key, open); o.err == nil {
		o.all = append(o.all, s)
	}
	return s
}

// wait waits until every source has been tried, but not for long.
func (o *opened) wait() {
	timeout := time.NewTimer(startWait)
	defer timeout.Stop()
	for _, s := range o.all {
		select {
		case <-s.Tried():
		case <-timeout.C:
			log.Warningf("Starting although not everything was read after %v", startWait)
			return
		}
	}
}

// inlineName stands for the Corefile where others have a path.
const inlineName = "inline"

// inlineLines are the hosts lines of a block. Blocks with the same lines share them.
type inlineLines struct{ *source.Static }

// Close implements source.Source.
func (l *inlineLines) Close() error {
	entries.WithLabelValues(inlineName).Sub(float64(l.Parts()[0].Entries()))
	return nil
}
