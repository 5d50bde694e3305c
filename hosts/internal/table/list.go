package table

import "github.com/trident-dns/trident/hosts/internal/wire"

// What the reference of a name in a List says it covers.
const (
	coversName  = 1 << iota // the name itself
	coversBelow             // the name and everything below
)

// List is a set of names, some of which stand for everything below them too. The zero value is an empty list.
type List struct {
	names names
	n     int
	below int // the most labels that a name has that covers what is below it; 0 when there is none
}

// Len returns how many names the list holds.
func (l *List) Len() int { return l.n }

// Size returns the bytes that the list takes.
func (l *List) Size() int { return l.names.size() }

// Covers reports whether the list holds the name of q, or covers it from above. A question with many labels costs no
// more than the names of the list have.
func (l *List) Covers(q *Question) bool {
	if l.has(q.Key(0), coversName|coversBelow) {
		return true
	}
	for skip := max(1, q.Labels()-l.below); skip < q.Labels(); skip++ {
		if l.has(q.Key(skip), coversBelow) {
			return true
		}
	}
	return false
}

func (l *List) has(k Key, want uint32) bool {
	pos := l.names.look(k.name, k.hash)
	return pos != 0 && l.names.arena.ref(pos)&want != 0
}

// ListBuilder makes a List. It is not safe for concurrent use.
type ListBuilder struct{ list List }

// NewListBuilder returns a builder that expects about so many names; 0 when that is not known.
func NewListBuilder(names int) *ListBuilder {
	b := &ListBuilder{}
	b.list.names.index = newIndex(names)
	return b
}

// Add adds name, which is in wire format, lower case and not the root, and with below everything below it. The error is
// ErrFull.
func (b *ListBuilder) Add(name []byte, below bool) error {
	covers := uint32(coversName)
	if below {
		covers = coversBelow
		b.list.below = max(b.list.below, wire.Labels(name))
	}
	pos, isNew, full := b.list.names.add(name, covers)
	switch {
	case full:
		return ErrFull
	case isNew:
		b.list.n++
	default:
		a := &b.list.names.arena
		a.setRef(pos, a.ref(pos)|covers)
	}
	return nil
}

// List returns what was added. The builder must not be used afterwards.
func (b *ListBuilder) List() *List {
	b.list.names.fit()
	l := b.list
	*b = ListBuilder{}
	return &l
}
