// Package lint finds what is wrong or odd about the records of a store: what the server does not serve, and what it
// serves otherwise than its writer may think. It is pure.
package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

// Level is how bad a finding is.
type Level string

// The levels.
const (
	Error   Level = "error"   // it is not served
	Warning Level = "warning" // it is served, perhaps not as it was meant
)

// Finding is one thing that is wrong.
type Finding struct {
	Level Level  `json:"level"`
	Rule  string `json:"rule"`
	Key   string `json:"key"`
	Name  string `json:"name,omitempty"`
	Text  string `json:"text"`
}

// Rules names all rules, with what they find.
var Rules = [][2]string{
	{"value", "a key or value that the server cannot serve, and why"},
	{"empty", "a value that holds no record"},
	{"config", "the configuration of SkyDNS is no JSON object"},
	{"odd", "a value that is read, but probably meant otherwise, or that other servers do not read"},
	{"case", "a key that is not written as the server looks for it: upper case, spare slashes"},
	{"same-name", "two keys for one name"},
	{"alias", "a name that stands for another one, beside other records"},
	{"dangling", "a target below a zone kept here that has no records"},
	{"loop", "names that stand for each other in a circle"},
	{"long-chain", "names that stand for each other further than the server follows"},
	{"target-alias", "a target of MX, NS or SRV that is a name for another one (RFC 2181, section 10.3)"},
	{"duplicate", "the same record at two keys"},
	{"ttl", "records of one name and type with different TTLs: the least is used for all"},
	{"stub", "a stub zone's key that the server leaves out"},
	{"shadow", "a stub zone that hides records kept here"},
}

// data is what the rules look at.
type data struct {
	prefix  skydns.Prefix
	keys    []record.Key
	zones   []string                // paths
	exists  map[string]bool         // paths of names that have records, and of those above them
	byOwner map[string][]record.Key // of keys that are served, without those of stub zones
	owners  []string                // of byOwner, sorted
	found   []Finding
}

// Check looks at the keys of a store. zones are the names of the zones that are kept there; without any they are told
// from the keys.
func Check(prefix skydns.Prefix, keys []record.Key, zones []string) []Finding {
	d := &data{prefix: prefix, keys: keys, exists: map[string]bool{}, byOwner: map[string][]record.Key{}}
	for _, k := range keys {
		if k.Err != nil || k.Role == record.Stub || record.Config(prefix, k.Key) {
			continue
		}
		if len(d.byOwner[k.Owner]) == 0 {
			d.owners = append(d.owners, k.Owner)
		}
		d.byOwner[k.Owner] = append(d.byOwner[k.Owner], k)
		d.exist(k.Owner)
		d.exist(k.Path)
	}
	slices.Sort(d.owners)
	for _, z := range zones {
		d.zones = append(d.zones, skydns.PathOf(z))
	}
	if len(zones) == 0 {
		d.zones = guessZones(keys)
	}
	d.values()
	d.names()
	d.targets()
	d.stubs()
	slices.SortStableFunc(d.found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Rule, b.Rule))
	})
	return d.found
}

func (d *data) exist(path string) {
	for path != "" && !d.exists[path] {
		d.exists[path] = true
		path = parent(path)
	}
}

func parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

// guessZones takes the names whose keys have roles for zones, and for the rest those of two labels.
func guessZones(keys []record.Key) []string {
	var zones []string
	for _, k := range keys {
		switch labels := strings.Split(k.Path, "/"); {
		case k.Err != nil:
		case k.Role != record.Plain:
			zones = append(zones, k.Zone)
		case len(labels) > 2 && labels[0] != "arpa":
			zones = append(zones, strings.Join(labels[:2], "/"))
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

func (d *data) add(level Level, rule string, k record.Key, text string) {
	f := Finding{Level: level, Rule: rule, Key: k.Key, Text: text}
	if k.Err == nil {
		f.Name = skydns.NameOf(k.Owner)
	}
	d.found = append(d.found, f)
}

// ours tells whether a path lies in one of the zones.
func (d *data) ours(path string) bool {
	return slices.ContainsFunc(d.zones, func(z string) bool { return isWithin(path, z) })
}

func isWithin(path, top string) bool {
	return top == "" || strings.HasPrefix(path, top) && (len(path) == len(top) || path[len(top)] == '/')
}

// known tells whether a name has records, by itself, by those below it, or by a wildcard: RFC 4592, section 3.3.1.
func (d *data) known(path string) bool {
	if d.exists[path] {
		return true
	}
	for path = parent(path); path != "" && !d.exists[path]; {
		path = parent(path)
	}
	return d.exists[strings.TrimPrefix(path+"/*", "/")]
}

// aliasOf is the path of the name that a name stands for, when it is one only.
func (d *data) aliasOf(path string) (string, bool) {
	target := ""
	for _, k := range d.byOwner[path] {
		for _, rr := range k.RRs() {
			cname, ok := rr.(*dns.CNAME)
			if !ok || target != "" && target != skydns.PathOf(cname.Target) {
				return "", false
			}
			target = skydns.PathOf(cname.Target)
		}
	}
	return target, target != ""
}
