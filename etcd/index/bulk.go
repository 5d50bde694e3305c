package index

// bulk makes a tree from entries that come nearly in order, as keys of etcd do, without a tree in between.
type bulk struct {
	edit   *edit
	leaves []*node
	n      int
	last   entry
	late   []entry // those that came after a later one
}

// load is how full leaves are made: changes need some room.
const load = fanout * 7 / 8

func (b *bulk) add(e entry) {
	if b.n > 0 {
		switch c := b.edit.order.compare(b.last, e); {
		case c > 0:
			b.late = append(b.late, e)
			return
		case c == 0:
			leaf := b.leaves[len(b.leaves)-1]
			leaf.entries[len(leaf.entries)-1] = e
			return
		}
	}
	if len(b.leaves) == 0 || len(b.leaves[len(b.leaves)-1].entries) == load {
		b.leaves = append(b.leaves, &node{edit: b.edit, entries: make([]entry, 0, load)})
	}
	leaf := b.leaves[len(b.leaves)-1]
	leaf.entries = append(leaf.entries, e)
	b.last = e
	b.n++
}

// tree returns the tree of all that was added. bulk must not be used after it.
func (b *bulk) tree() tree {
	t := tree{n: b.n}
	level := b.leaves
	for len(level) > 1 {
		var above []*node
		for len(level) > 0 {
			n := min(load, len(level))
			in := &node{edit: b.edit, kids: level[:n:n], low: make([]entry, n)}
			for i, kid := range in.kids {
				in.low[i] = kid.first()
			}
			above, level = append(above, in), level[n:]
		}
		level = above
	}
	if len(level) == 1 {
		t.root = level[0]
	}
	for _, e := range b.late {
		t, _ = t.put(b.edit, e)
	}
	return t
}
