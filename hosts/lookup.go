package hosts

import (
	"github.com/trident-dns/trident/hosts/internal/source"
	"github.com/trident-dns/trident/hosts/internal/table"
)

// existence says how a name exists in the tables of a block.
type existence uint8

const (
	absent   existence = iota
	implied            // names below it exist: an empty non-terminal
	existing           // it has entries, or a wildcard stands for it
)

// data is what a block answers from at one moment: its tables, in the order of the sources in the Corefile.
type data []*table.Table

// collect appends what the sources hold now.
func (d data) collect(sources []source.Source) data {
	for _, s := range sources {
		for _, p := range s.Parts() {
			if p.Hosts != nil {
				d = append(d, p.Hosts)
			}
		}
	}
	return d
}

// wildcard looks for a wildcard that stands for q, which has no entries of its own but exists as found says.
// minLabels keeps wildcards out that are above the zones of the block.
func (d data) wildcard(q *table.Question, deep bool, found existence, minLabels int, out *addressRecords) existence {
	skip, ok := d.encloser(q, deep, found)
	if !ok || q.Labels()-skip < minLabels {
		return absent
	}
	if k, ok := q.Wildcard(skip); ok && d.exact(k, out) == existing {
		return existing
	}
	return absent
}

// exact joins what the tables say about one name.
func (d data) exact(k table.Key, out *addressRecords) existence {
	found := absent
	for _, t := range d {
		switch m, ref := t.Find(k); m {
		case table.Exact:
			found = existing
			out.add(t, ref)
		case table.Parent:
			found = max(found, implied)
		}
	}
	return found
}

// encloser returns how many labels of q a wildcard would have to replace. Without deep that is the first one, and the
// name may even be the parent of others, as it has always been in CoreDNS. With deep it is all that is below the
// closest encloser (RFC 4592 section 3.3.1), and a name that exists needs no wildcard.
func (d data) encloser(q *table.Question, deep bool, found existence) (skip int, ok bool) {
	if q.Labels() == 0 {
		return 0, false
	}
	if !deep {
		return 1, true
	}
	if found != absent {
		return 0, false
	}
	depth := 0
	for _, t := range d {
		depth = max(depth, t.Depth())
	}
	var none addressRecords
	for skip = max(1, q.Labels()-depth); skip <= q.Labels(); skip++ {
		if d.exact(q.Key(skip), &none) != absent {
			return skip, true
		}
	}
	return 0, false
}
