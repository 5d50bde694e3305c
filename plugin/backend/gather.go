package backend

import (
	"net"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// gather finds the records that a name of zone has for a type of question. What is missing of
// glue does not make the reply truncated: RFC 2181, section 9.
func (l *lookup) gather(zone *Zone, store Store, at place, qtype uint16, glue bool) *walk {
	w := l.walk(store, at, qtype, l.room)
	if at.path == zone.Path {
		l.gatherApex(w, zone)
	} else {
		l.gatherName(w, zone)
	}
	l.res.Cut = l.res.Cut || w.cut
	l.res.Truncated = l.res.Truncated || w.full && !glue
	w.items = group(w.items)
	return w
}

func (l *lookup) gatherName(w *walk, zone *Zone) {
	exact := l.Mode == Exact
	switch {
	case exact:
		w.owned(w.path)
		w.found = w.found || w.exists(w.path)
	case hasAny(zone, w.path):
		w.match(zone, w.path)
		if w.qtype == dns.TypePTR {
			w.items = nil // no PTR question is about more than one name
		}
		return
	case w.qtype == dns.TypePTR && !isReverse(w.path):
		w.at(w.path)
		w.found = w.found || w.exists(w.path)
	default:
		w.tree(w.path)
	}
	if w.found {
		return
	}
	// RFC 4592, section 3.3.1: the wildcard below the closest name that exists, and no other.
	encloser := w.path
	for encloser != zone.Path {
		encloser = parent(encloser)
		if encloser == zone.Path || w.exists(encloser) {
			break
		}
	}
	w.star = join(encloser, "*")
	if exact {
		w.owned(w.star)
		w.found = w.found || w.exists(w.star)
		return
	}
	w.tree(w.star)
}

// gatherApex finds the records of the apex. Address questions are for dns/apex, and for the whole zone only when nothing
// is kept there. TXT, MX and SRV are for the whole zone with dns/apex, and all other types for dns/apex alone: nobody
// wants the CAA or PTR record of some name below as the zone's own.
func (l *lookup) gatherApex(w *walk, zone *Zone) {
	exact := l.Mode == Exact
	switch w.qtype {
	case dns.TypeA, dns.TypeAAAA:
		w.tree(zone.apex)
		switch {
		case exact:
			w.owned(zone.Path)
		case !w.found && !l.NoApexFallback:
			w.tree(zone.Path)
		}
		return
	case dns.TypeTXT, dns.TypeMX, dns.TypeSRV:
		if !exact {
			w.allowed = zone.apex
			w.tree(zone.Path)
			return
		}
	}
	w.owned(zone.Path)
	leaf := w.leaf
	w.tree(zone.apex)
	w.leaf = leaf
	if !l.NoApexFallback || exact {
		w.found = w.found || w.exists(zone.Path)
	}
}

// isReverse tells whether a path is that of an address, all its labels there (RFC 1035 3.5, RFC 3596 2.5). The keys below
// it are names of that address. What lies below any other name belongs to other addresses, and no PTR question is about
// them all.
func isReverse(path string) bool {
	if below, ok := strings.CutPrefix(path, "arpa/in-addr/"); ok {
		return labels(below) == net.IPv4len-1
	}
	below, ok := strings.CutPrefix(path, "arpa/ip6/")
	return ok && labels(below) == 2*net.IPv6len-1
}

func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

// group keeps the records of one group: that of the shortest key that has one. When two of the shortest keys disagree
// all records stay, and records without a group belong to every group.
func group(items []item) []item {
	grouped := false
	for i := range items {
		if items[i].Group() != "" {
			grouped = true
			break
		}
	}
	if !grouped {
		return items
	}
	want, depth := items[0].Group(), labels(items[0].path)
	for _, it := range items[1:] {
		if n := labels(it.path); n < depth && it.Group() != "" {
			want, depth = it.Group(), n
		}
	}
	if want == "" {
		return items
	}
	kept := make([]item, 0, len(items))
	for _, it := range items {
		switch g := it.Group(); {
		case g == "" || g == want:
			kept = append(kept, it)
		case labels(it.path) == depth:
			return items
		}
	}
	return kept
}

func labels(path string) int { return strings.Count(path, "/") }

// targetOf is the name that a record with an address goes by where a name is needed: that of its key, less the labels
// of targetstrip. Below a wildcard it is the name that was asked for in place of the wildcard, and may be too long to be
// one at all: ok is false then.
func (w *walk) targetOf(it item) (name string, ok bool) {
	path := it.path
	if w.star != "" && IsWithin(path, w.star) {
		path = w.path + path[len(w.star):]
	}
	name = skydns.NameOf(skydns.StripPath(path, it.Strip()))
	return name, isName(name)
}

// isName tells whether a name made of labels that are right has no more than the 255 octets of RFC 1035, section 2.3.4.
// miekg/dns packs such with one more, which nobody can read.
func isName(name string) bool {
	if len(name) < 255 {
		return true // on the wire it has one octet more, and less where there are escapes
	}
	_, err := skydns.CheckName(name)
	return err == nil
}
