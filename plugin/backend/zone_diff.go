package backend

import (
	"maps"
	"slices"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// Diff returns the records that a zone lost and got on its way from one state to another, when the records of no other
// names than those of the touched paths changed: the SOA record is not among them. ok is false where that cannot be told
// name by name, because a delegation changed; only a whole transfer will do then.
func Diff(before, after Copy, touched []string) (lost, got []dns.RR, ok bool) {
	names := map[string]bool{}
	for _, path := range touched {
		if !IsWithin(path, after.zone.Path) {
			continue
		}
		for _, c := range []Copy{before, after} {
			if !c.touch(path, names) {
				return nil, nil, false
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(names)) {
		a, b := before.at(path), after.at(path)
		lost, got = append(lost, without(a, b)...), append(got, without(b, a)...)
	}
	return lost, got, true
}

// touch adds the paths of the names whose records depend on those at path. It returns false when they may be any.
func (c Copy) touch(path string, names map[string]bool) bool {
	c.add(path, names)
	if IsWithin(path, c.zone.apex) || IsWithin(path, c.zone.ns) {
		names[c.zone.Path] = true
	}
	ok := true
	c.store.Ascend(path, func(p string, rec *skydns.Record) bool {
		if p != path {
			return false
		}
		owner := c.ownerOf(p, rec)
		c.add(owner, names)
		if rr := rec.RR(); rr != nil && rr.Header().Rrtype == dns.TypeNS && owner != c.zone.Path {
			ok = role(c.view, owner) != "" // its own name's, and no cut
		}
		return ok
	})
	return ok
}

// add adds the name of a path, or the delegation that stands for it.
func (c Copy) add(path string, names map[string]bool) {
	if child, ok := c.child(path); ok {
		path = child
	}
	if IsWithin(path, c.zone.Path) {
		names[path] = true
	}
}

// at returns the records of a name of the zone, or of the delegation that it stands for.
func (c Copy) at(path string) []dns.RR {
	if path == c.zone.Path {
		return c.apex()
	}
	if _, ok := c.child(path); !ok {
		return c.name(path)
	}
	has := false
	c.store.Ascend(path, func(p string, _ *skydns.Record) bool {
		has = IsWithin(p, path)
		return !has && len(p) >= len(path) && p[:len(path)] == path
	})
	if !has {
		return nil
	}
	return c.delegation(path)
}

// without returns the records of a that are not in b, TTL and all.
func without(a, b []dns.RR) []dns.RR {
	have := make(map[string]bool, len(b))
	for _, rr := range b {
		have[rr.String()] = true
	}
	var rest []dns.RR
	for _, rr := range a {
		if !have[rr.String()] {
			rest = append(rest, rr)
		}
	}
	return rest
}
