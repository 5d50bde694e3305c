package main

import (
	"slices"
	"strings"
	"time"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/form"
	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// loaded is what the files of an import hold.
type loaded struct {
	wants   []plan.Want
	entries []store.Entry   // whose keys are given
	zones   map[string]bool // paths of those that are known
	refused []plan.Refused  // of entries
	paths   []string        // of entries
}

// load reads the files.
func (a *app) load(f *importFlags, files []string) (*loaded, error) {
	if f.ttl < 0 || f.ttl%time.Second != 0 || f.ttl > skydns.MaxTTL*time.Second {
		return nil, usagef("--ttl %v: whole seconds, up to %d", f.ttl, skydns.MaxTTL)
	}
	o := form.Options{TTL: uint32(f.ttl / time.Second), Key: a.keys().Key}
	if f.origin != "" {
		name, err := record.NameArg(f.origin)
		if err != nil {
			return nil, usagef("--origin: %w", err)
		}
		o.Origin = name
	}
	l := &loaded{zones: map[string]bool{}}
	for _, z := range f.zones {
		name, err := record.NameArg(z)
		if err != nil {
			return nil, usagef("--zone: %w", err)
		}
		l.zones[skydns.PathOf(name)] = true
	}
	for _, file := range files {
		text, err := a.readFile(file)
		if err != nil {
			return nil, err
		}
		in, err := form.Read(form.Form(f.format), file, text, o)
		if err != nil {
			return nil, err
		}
		for _, note := range in.Notes {
			a.notef("%s: %s", file, note)
		}
		if in.Zone != "" {
			l.zones[skydns.PathOf(in.Zone)] = true
		}
		l.wants = append(l.wants, in.Wants...)
		l.take(a, file, in)
	}
	if f.prune && len(l.zones) == 0 {
		return nil, usagef("--prune wants to know the zones: --zone names them, or the SOA record of a zone file")
	}
	return l, nil
}

// take checks keys that came with their values, with the code that the server loads them with.
func (l *loaded) take(a *app, file string, in form.Input) {
	outside, folded := 0, 0
	for _, e := range in.Entries {
		path, err := a.keys().Path(e.Key)
		if in.Folds && err != nil && !strings.HasPrefix(e.Key, string(a.keys())+"/") {
			outside++
			continue
		}
		if err == nil && !record.Config(a.keys(), e.Key) {
			_, err = skydns.Parse([]byte(e.Value), 0)
		}
		if err != nil {
			l.refused = append(l.refused, plan.Refused{Want: plan.Want{Origin: file + ": " + e.Key}, Err: err})
			continue
		}
		if key := string(a.keys()) + "/" + path; in.Folds && key != e.Key {
			folded++
			e.Key = key
		}
		l.entries, l.paths = append(l.entries, e), append(l.paths, path)
	}
	if outside > 0 {
		a.notef("%s: left out %d keys that are not below %s", file, outside, a.keys())
	}
	if folded > 0 {
		a.notef("%s: wrote %d keys in lower case, without spare slashes", file, folded)
	}
}

// within tells whether all records lie in zones that are known.
func (l *loaded) within() bool {
	for _, p := range l.paths {
		if !l.inZone(p) {
			return false
		}
	}
	for _, w := range l.wants {
		if !l.inZone(skydns.PathOf(w.RR.Header().Name)) {
			return false
		}
	}
	return true
}

func (l *loaded) inZone(path string) bool {
	for z := range l.zones {
		if z == "" || isWithin(z, path) {
			return true
		}
	}
	return false
}

// plan finds keys for the records, and what is to change.
func (l *loaded) plan(prefix skydns.Prefix, f *importFlags, have []record.Key) (changes []store.Change, same int, refused []plan.Refused) {
	wants := l.wants
	if f.ptr {
		wants = append(slices.Clone(wants), plan.NewReverse(nil, l.wants).Come...)
	}
	arranger := plan.Arranger{Prefix: prefix, Zones: l.zones, Have: have}
	entries, refused := arranger.Arrange(wants)
	entries = append(l.entries, entries...)
	refused = append(l.refused, refused...)
	var gone []record.Key
	old := entriesOf(have)
	changes, same = plan.Diff(old, entries, func(e store.Entry) bool {
		k := record.Read(prefix, e)
		if f.prune && l.prunes(prefix, k) {
			gone = append(gone, k)
			return true
		}
		return false
	})
	if !f.ptr || len(gone) == 0 {
		return changes, same, refused
	}
	// Now that it is known which addresses go, so do the PTR records that led from them to their names.
	reverse := plan.NewReverse(gone, l.wants)
	changes, same = plan.Diff(old, entries, func(e store.Entry) bool {
		k := record.Read(prefix, e)
		return l.prunes(prefix, k) || reverse.Doomed(k)
	})
	return changes, same, refused
}

// prunes tells whether a key goes when the files have it not.
func (l *loaded) prunes(prefix skydns.Prefix, k record.Key) bool {
	return k.Path != "" && k.Role != record.Stub && !record.Config(prefix, k.Key) && l.inZone(k.Path)
}
