package table

import (
	"bytes"
	"net/netip"
	"slices"

	"github.com/trident-dns/trident/hosts/internal/wire"
)

// Builder makes a Table. It is not safe for concurrent use.
type Builder struct {
	names  names
	addrs  [][16]byte
	byAddr index
	pairs  pairs
	depth  int

	// The address of the last entry, and the name above its name: neighbours in a file mostly share them.
	last       [16]byte
	lastID     uint32
	lastParent []byte
}

// NewBuilder returns a builder that expects about so many names; 0 when that is not known.
func NewBuilder(names int) *Builder {
	b := &Builder{}
	b.names.index = newIndex(names)
	return b
}

// Add joins name, which is in wire format and lower case, and a. Adding a pair again changes nothing. The error is
// ErrTooManyAddrs or ErrFull.
func (b *Builder) Add(name []byte, a netip.Addr) error {
	id := b.addrID(a.As16())
	pos, isNew, full := b.names.add(name, noPair)
	if full {
		return ErrFull
	}
	if isNew {
		b.depth = max(b.depth, wire.Labels(name))
		b.addParents(pos, name)
	}
	head := b.names.arena.ref(pos)
	n := 0
	for i := head; i != noPair; n++ {
		p := b.pairs.at(i)
		if p.addr == id {
			return nil
		}
		i = p.prev
	}
	if n == MaxAddrs {
		return ErrTooManyAddrs
	}
	b.names.arena.setRef(pos, b.pairs.add(pair{pos, id, head}))
	return nil
}

// addParents makes the names above name, which is at pos, exist.
func (b *Builder) addParents(pos uint32, name []byte) {
	if name[0] == 0 {
		return
	}
	parent := name[1+name[0]:]
	if bytes.Equal(parent, b.lastParent) {
		return
	}
	b.names.addParents(pos, name)
	b.lastParent = append(b.lastParent[:0], parent...)
}

func (b *Builder) addrID(a [16]byte) uint32 {
	if len(b.addrs) > 0 && a == b.last {
		return b.lastID
	}
	id, ok := findAddr(&b.byAddr, b.addrs, a)
	if !ok {
		id = uint32(len(b.addrs))
		b.addrs = append(b.addrs, a)
		b.byAddr.insert(hashOf(a[:]), id+1)
	}
	b.last, b.lastID = a, id
	return id
}

// Table returns what was added. The builder must not be used afterwards.
func (b *Builder) Table() *Table {
	t := &Table{entries: b.pairs.n, depth: b.depth}
	t.lists = b.resolve()
	t.rev, t.revEnd = b.reverse()
	b.names.fit()
	b.byAddr.fit()
	t.names, t.byAddr = b.names, b.byAddr
	t.addrs = append(make([][16]byte, 0, len(b.addrs)), b.addrs...)
	*b = Builder{}
	return t
}

// resolve replaces the chain of pairs that each name refers to by its addresses, and returns the lists for names with
// several. Equal lists are kept once: in a list to block every name has the same two addresses.
func (b *Builder) resolve() []uint32 {
	var (
		lists []uint32
		known index
		ids   []uint32
	)
	b.names.arena.each(func(pos uint32) {
		ids = ids[:0]
		for i := b.names.arena.ref(pos); i != noPair; {
			p := b.pairs.at(i)
			ids = append(ids, p.addr)
			i = p.prev
		}
		if len(ids) == 1 {
			b.names.arena.setRef(pos, ids[0])
			return
		}
		slices.Reverse(ids) // the chain leads from the last line to the first
		b.names.arena.setRef(pos, listBit|intern(&lists, &known, ids))
	})
	return slices.Clone(lists)
}

// intern returns where in lists the list ids is, after appending it when it is new.
func intern(lists *[]uint32, known *index, ids []uint32) uint32 {
	hash := hashIDs(ids)
	if known.n > 0 {
		for i := known.home(hash); known.slots[i] != 0; i = known.next(i) {
			at := uint32(known.slots[i]) - 1
			if uint32(known.slots[i]>>32) != hash || int((*lists)[at]) != len(ids) {
				continue
			}
			if slices.Equal((*lists)[at+1:int(at)+1+len(ids)], ids) {
				return at
			}
		}
	}
	at := uint32(len(*lists))
	*lists = append(append(*lists, uint32(len(ids))), ids...)
	known.insert(hash, at+1)
	return at
}

func hashIDs(ids []uint32) uint32 {
	h := uint64(len(ids))
	for _, id := range ids {
		h = (h ^ uint64(id)) * 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio: spreads consecutive numbers
		h ^= h >> 32
	}
	return uint32(h)
}

// reverse returns the names of each address in the order of their lines, as Table.rev and Table.revEnd.
func (b *Builder) reverse() (rev, end []uint32) {
	end = make([]uint32, len(b.addrs))
	total := 0
	b.pairs.each(func(p pair) {
		if !b.isWildcard(p.name) {
			end[p.addr]++
			total++
		}
	})
	sum := uint32(0)
	for i, n := range end {
		end[i] = sum // where the names of the address start; filling moves it to their end
		sum += n
	}
	rev = make([]uint32, total)
	b.pairs.each(func(p pair) {
		if !b.isWildcard(p.name) {
			rev[end[p.addr]] = p.name
			end[p.addr]++
		}
	})
	return rev, end
}

func (b *Builder) isWildcard(pos uint32) bool {
	n := b.names.arena.at(pos)
	return n[0] == 1 && n[1] == '*'
}
