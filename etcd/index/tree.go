package index

import (
	"slices"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"
)

// fanout is the most entries of a leaf, and kids of an inner node. A change copies one node of each level, some
// kilobytes in all; a search compares with about two of every level's strings per doubling.
const fanout = 64

// tree is a sorted set of entries that is never changed: a change gives a new tree, which shares with the old one all
// nodes that are the same. It is a B+ tree whose nodes may be less than half full. The zero value is empty.
type tree struct {
	root *node
	n    int
}

// node is a leaf, with entries, or an inner node, with kids.
type node struct {
	edit    *edit // who may change it in place; a finished edit may not
	entries []entry
	// kids[i] holds what is not before low[i] and before low[i+1]. low[0] counts for nothing.
	kids []*node
	low  []entry
}

// edit stands for a run of changes that nobody sees before its end.
type edit struct {
	order order
}

// order is what a tree is sorted by.
type order func(entry) string

func (o order) compare(a, b entry) int {
	if c := strings.Compare(o(a), o(b)); c != 0 {
		return c
	}
	if c := strings.Compare(a.path, b.path); c != 0 {
		return c
	}
	return strings.Compare(a.rawKey(), b.rawKey())
}

// put adds e, or replaces what is equal to it in order, which it returns.
func (t tree) put(ed *edit, e entry) (tree, entry) {
	if t.root == nil {
		t.root = &node{edit: ed}
	}
	root, right, old := t.root.put(ed, e)
	if right != nil {
		root = &node{edit: ed, kids: []*node{root, right}, low: []entry{root.first(), right.first()}}
	}
	if old.row == nil {
		t.n++
	}
	t.root = root
	return t, old
}

func (n *node) put(ed *edit, e entry) (self, right *node, old entry) {
	n = n.own(ed)
	if n.kids == nil {
		i, found := slices.BinarySearchFunc(n.entries, e, ed.order.compare)
		if found {
			old, n.entries[i] = n.entries[i], e
			return n, nil, old
		}
		n.entries = slices.Insert(n.entries, i, e)
		return n, n.split(), entry{}
	}
	i := n.kidOf(ed, e)
	kid, right, old := n.kids[i].put(ed, e)
	n.kids[i] = kid
	if right != nil {
		n.kids = slices.Insert(n.kids, i+1, right)
		n.low = slices.Insert(n.low, i+1, right.first())
	}
	return n, n.split(), old
}

// remove takes away what is equal to e in order, and returns it.
func (t tree) remove(ed *edit, e entry) (tree, entry) {
	if t.root == nil {
		return t, entry{}
	}
	root, old := t.root.remove(ed, e)
	for len(root.kids) == 1 {
		root = root.kids[0]
	}
	if old.row != nil {
		t.n--
	}
	t.root = root
	return t, old
}

func (n *node) remove(ed *edit, e entry) (*node, entry) {
	if n.kids == nil {
		i, found := slices.BinarySearchFunc(n.entries, e, ed.order.compare)
		if !found {
			return n, entry{}
		}
		n = n.own(ed)
		old := n.entries[i]
		n.entries = slices.Delete(n.entries, i, i+1)
		return n, old
	}
	i := n.kidOf(ed, e)
	kid, old := n.kids[i].remove(ed, e)
	if old.row == nil {
		return n, old
	}
	n = n.own(ed)
	n.kids[i] = kid
	n.join(ed, i)
	return n, old
}

// join unites kid i, when little is left of it, with a neighbour that has room. An empty one goes, unless it is the last.
func (n *node) join(ed *edit, i int) {
	size := n.kids[i].size()
	if size > fanout/4 || len(n.kids) == 1 {
		return
	}
	left := max(i-1, 0)
	a, b := n.kids[left], n.kids[left+1]
	if size > 0 && a.size()+b.size() > fanout*3/4 {
		return
	}
	a = a.own(ed)
	a.entries = append(a.entries, b.entries...)
	a.kids = append(a.kids, b.kids...)
	a.low = append(a.low, b.low...)
	if a.kids != nil {
		// The first of b's bounds counted for nothing in b. Here it does.
		a.low[len(a.low)-len(b.low)] = n.low[left+1]
	}
	n.kids[left] = a
	n.kids = slices.Delete(n.kids, left+1, left+2)
	n.low = slices.Delete(n.low, left+1, left+2)
}

// own returns n, or a copy of it, for ed to change.
func (n *node) own(ed *edit) *node {
	if n.edit == ed {
		return n
	}
	return &node{edit: ed, entries: clone(n.entries), kids: clone(n.kids), low: clone(n.low)}
}

// clone leaves room for one more, which is what most changes need.
func clone[T any](s []T) []T {
	if s == nil {
		return nil
	}
	return append(make([]T, 0, len(s)+1), s...)
}

// split halves n when it has grown too large, and returns the right half.
func (n *node) split() *node {
	if n.size() <= fanout {
		return nil
	}
	half := n.size() / 2
	right := &node{edit: n.edit}
	if n.kids == nil {
		right.entries = slices.Clone(n.entries[half:])
		n.entries = slices.Delete(n.entries, half, len(n.entries))
		return right
	}
	right.kids, right.low = slices.Clone(n.kids[half:]), slices.Clone(n.low[half:])
	n.kids, n.low = slices.Delete(n.kids, half, len(n.kids)), slices.Delete(n.low, half, len(n.low))
	return right
}

func (n *node) size() int { return len(n.entries) + len(n.kids) }

// first is not after anything in n.
func (n *node) first() entry {
	if n.kids != nil {
		return n.low[0]
	}
	return n.entries[0]
}

// kidOf returns the index of the kid that e belongs to.
func (n *node) kidOf(ed *edit, e entry) int {
	i, found := slices.BinarySearchFunc(n.low[1:], e, ed.order.compare)
	if found {
		return i + 1
	}
	return i
}

// ascend calls yield with the entries whose key in the given order is not before from, until it returns false.
func (t tree) ascend(by order, from string, yield func(entry) bool) {
	if t.root != nil {
		t.root.ascend(by, from, yield)
	}
}

func (n *node) ascend(by order, from string, yield func(entry) bool) bool {
	if n.kids == nil {
		i := lowerBound(n.entries, by, from)
		for _, e := range n.entries[i:] {
			if !yield(e) {
				return false
			}
		}
		return true
	}
	// The kid before the first bound that is not before from may still hold such entries.
	for _, kid := range n.kids[lowerBound(n.low[1:], by, from):] {
		if !kid.ascend(by, from, yield) {
			return false
		}
	}
	return true
}

// lowerBound is the index of the first entry that is not before from.
func lowerBound(entries []entry, by order, from string) int {
	lo, hi := 0, len(entries)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); by(entries[mid]) < from {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// ascendPaths is ascend in the order of paths, for those who answer questions: a function that is passed on costs less
// than one that is wrapped.
func (n *node) ascendPaths(from string, yield func(string, *skydns.Record) bool) bool {
	if n.kids == nil {
		for _, e := range n.entries[lowerBound(n.entries, byPath, from):] {
			if !yield(e.path, &e.row.Record) {
				return false
			}
		}
		return true
	}
	for _, kid := range n.kids[lowerBound(n.low[1:], byPath, from):] {
		if !kid.ascendPaths(from, yield) {
			return false
		}
	}
	return true
}
