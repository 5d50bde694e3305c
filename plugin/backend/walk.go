package backend

import (
	"slices"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// item is a record with the path it was found at.
type item struct {
	path string
	*skydns.Record
}

// walk gathers the records of one name for one type of question.
type walk struct {
	view    View
	store   Store
	path    string // of the name
	qtype   uint16
	star    string // path of the wildcard that stands for the name, "" when the name itself was looked at
	allowed string // a reserved path whose records count although the walk begins above it

	items []item
	found bool // some key lies at or below the name
	leaf  bool // one lies at it
	whole bool // all that is below the name was walked
	cut   bool
	full  bool   // more records of the type were found than the client can take
	slash string // path with a slash at its end, "" when nobody has made it
	steps int
	all   *allowance // of the question
	sure  int        // records of the type among items
	room  int        // for them

	// What at and below are looking for, and how: functions that are made once.
	base, from                     string
	between                        bool // something lies between base and what is below it
	visitAt, visitBelow, visitTree func(path string, r *skydns.Record) bool
}

// walk returns one that has not begun.
func (l *lookup) walk(store Store, at place, qtype uint16, room int) *walk {
	w := &l.first
	if l.begun {
		w = new(walk)
		w.bind()
	}
	l.begun = true
	w.view, w.store, w.path, w.slash, w.qtype, w.room, w.all = l.view, store, at.path, at.slash, qtype, room, &l.steps
	return w
}

func (w *walk) bind() { w.visitAt, w.visitBelow, w.visitTree = w.seeAt, w.seeBelow, w.seeTree }

// maxKept is how many items are kept room for, between one question and the next.
const maxKept = 64

// forget makes w one that is ready for another question.
func (w *walk) forget() {
	items := w.items
	if cap(items) > maxKept {
		items = nil
	}
	clear(items)
	*w = walk{items: items[:0], visitAt: w.visitAt, visitBelow: w.visitBelow, visitTree: w.visitTree}
}

// step counts a search, or a record that is looked at. It tells whether the walk may go on.
func (w *walk) step() bool {
	w.steps++
	if w.steps > MaxSteps || !w.all.step() {
		w.cut = true
	}
	return !w.cut
}

// ascend is a search that begins at from. When there are no steps left for it the name counts as one that exists: nobody
// knows, and NXDOMAIN would deny all that is below.
func (w *walk) ascend(from string, yield func(string, *skydns.Record) bool) {
	if !w.step() {
		w.found = true
		return
	}
	w.store.Ascend(from, yield)
}

// take is a yield function: it counts a record that belongs to the name and keeps it if it can matter to the type.
func (w *walk) take(path string, r *skydns.Record) bool {
	w.found = true
	if !w.step() || len(w.items) >= MaxRecords {
		w.cut = true
		return false
	}
	if !matters(r, w.qtype) {
		return true
	}
	w.items = append(w.items, item{path, r})
	if gives(r, w.qtype) {
		w.sure++
	}
	w.full = w.sure > w.room
	return !w.full
}

// gives tells whether a record is one of the type, of those types that a whole subtree answers with.
func gives(r *skydns.Record, qtype uint16) bool {
	switch qtype {
	case dns.TypeA:
		return r.Kind() == skydns.IPv4
	case dns.TypeAAAA:
		return r.Kind() == skydns.IPv6
	case dns.TypeTXT:
		return r.Text() != ""
	case dns.TypeSRV:
		return r.Kind() != skydns.NoHost
	}
	return false
}

// matters tells whether a record can be part of an answer. Text alone matters to TXT only, a record of another type only
// to its type, and to those that a CNAME or address record of that kind would be in the way of.
func matters(r *skydns.Record, qtype uint16) bool {
	if rr := r.RR(); rr != nil {
		switch t := rr.Header().Rrtype; t {
		case dns.TypeA, dns.TypeAAAA, dns.TypeCNAME:
			return true
		default:
			return t == qtype
		}
	}
	return r.Kind() != skydns.NoHost || qtype == dns.TypeTXT && r.Text() != ""
}

// at takes the records at path itself.
func (w *walk) at(path string) {
	w.base = path
	w.ascend(path, w.visitAt)
}

func (w *walk) seeAt(p string, r *skydns.Record) bool {
	if p != w.base {
		return false
	}
	w.leaf = true
	return w.take(p, r)
}

func (w *walk) setBase(path string) {
	w.whole = w.whole || path == w.path
	w.base = path
	switch {
	case path == "":
		w.from = ""
	case path == w.path && w.slash != "":
		w.from = w.slash
	default:
		w.from = path + "/"
	}
}

func (w *walk) seeBelow(p string, r *skydns.Record) bool {
	if !strings.HasPrefix(p, w.from) {
		return false
	}
	if p == w.base {
		return true // only the root has its own records here, which are not below it
	}
	if !w.unreserved(w.base, p) || w.delegated(w.base, p) {
		return w.skip()
	}
	return w.take(p, r)
}

// tree is at and below, mostly for one search: the names below one follow it, unless there are some like NAME-1.
func (w *walk) tree(path string) {
	w.setBase(path)
	w.between = false
	w.ascend(path, w.visitTree)
	if w.between && !w.cut && !w.full {
		w.ascend(w.from, w.visitBelow)
	}
}

func (w *walk) seeTree(p string, r *skydns.Record) bool {
	if p == w.base {
		w.leaf = true
		return w.take(p, r)
	}
	if w.between = p < w.from; w.between {
		return false
	}
	return w.seeBelow(p, r)
}

// skip goes on after a record that does not belong to the name, while there are steps left.
func (w *walk) skip() bool {
	w.found = true
	return w.step()
}

// owned takes the records that belong to path in mode Exact: those there that strip no label, and those below that
// strip down to it.
func (w *walk) owned(path string) {
	w.ascend(path, func(p string, r *skydns.Record) bool {
		if p != path {
			return false
		}
		w.leaf = true
		if skydns.StripPath(p, r.Strip()) != path {
			return w.skip()
		}
		return w.take(p, r)
	})
	if !w.step() {
		w.found = true
		return
	}
	w.store.Owned(path, w.take)
}

// delegated tells whether path p lies at or beyond a zone cut below base.
func (w *walk) delegated(base, p string) bool {
	if w.store.HasCuts() {
		for ; isBelow(p, base); p = parent(p) {
			if isCut(w.view, w.store, p) {
				return true
			}
		}
	}
	return false
}

// unreserved tells whether the records at path p may answer for base, a name above it. Those below dns/ns, dns/apex and
// dns/stub of a zone may not, unless base is there too.
func (w *walk) unreserved(base, p string) bool {
	top := role(w.view, p)
	return top == "" || top == w.allowed || IsWithin(base, top)
}

// role returns the path of the name that p lies at or below, if that is one of dns/ns, dns/apex and dns/stub of a zone,
// or "".
func role(v View, p string) string {
	for from := 0; ; {
		i := strings.Index(p[from:], "dns/")
		if i < 0 {
			return ""
		}
		i += from
		from = i + len("dns/")
		if i > 0 && p[i-1] != '/' {
			continue
		}
		name, _, _ := strings.Cut(p[from:], "/")
		if (name == "ns" || name == "apex" || name == "stub") && v.IsZone(strings.TrimSuffix(p[:i], "/")) {
			return p[:from+len(name)]
		}
	}
}

// match takes the records that a name with the labels "*" or "any" matches: each stands for one label, and whatever is
// below matches too. The labels of the zone are taken as they are.
func (w *walk) match(zone *Zone, path string) {
	want := strings.Split(path, "/")
	fixed := 0
	if zone.Path != "" {
		fixed = strings.Count(zone.Path, "/") + 1
	}
	for fixed < len(want) && !isAny(want[fixed]) {
		fixed++
	}
	base := strings.Join(want[:fixed], "/")
	from := base + "/"
	if base == "" {
		from = ""
	}
	w.ascend(from, func(p string, r *skydns.Record) bool {
		if !strings.HasPrefix(p, from) {
			return false
		}
		if !matchLabels(p[len(from):], want[fixed:]) || !w.unreserved(path, p) || w.delegated(base, p) {
			return w.skip()
		}
		return w.take(p, r)
	})
	if !w.found && fixed < len(want) {
		// As in-tree does: a leaf makes the name exist, and too short to match.
		w.ascend(base, func(p string, _ *skydns.Record) bool {
			w.found = p == base
			return false
		})
	}
}

func matchLabels(path string, want []string) bool {
	for _, label := range want {
		if path == "" {
			return false
		}
		var have string
		have, path, _ = strings.Cut(path, "/")
		if have != label && !isAny(label) {
			return false
		}
	}
	return true
}

func isAny(label string) bool { return label == "*" || label == "any" }

// hasAny tells whether the path of a name below zone has a label that matches any.
func hasAny(zone *Zone, path string) bool {
	rest := strings.TrimPrefix(path[len(zone.Path):], "/")
	return (strings.Contains(rest, "*") || strings.Contains(rest, "any")) &&
		slices.ContainsFunc(strings.Split(rest, "/"), isAny)
}

// exists tells whether some key lies at or below path.
func (w *walk) exists(path string) bool {
	is := false
	w.ascend(path, func(p string, _ *skydns.Record) bool {
		is = p == path
		return false
	})
	if is || w.cut {
		return true
	}
	w.ascend(join(path, ""), func(p string, _ *skydns.Record) bool {
		is = isBelow(p, path)
		return false
	})
	return is || w.cut
}
