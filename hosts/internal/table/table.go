// Package table keeps what hosts files say in as little memory as lookups in constant time allow. A [Table] joins
// names and addresses both ways, a [List] is a set of names. Both are built aside, by one goroutine, and never change
// afterwards: any number of goroutines may ask them, and no lookup allocates.
//
// Per name a table takes the octets of the name and a reference, a slot of eight bytes in a hash index for it and for
// every parent that no other name has, and four bytes for the way back from its address. There is no pointer for the
// garbage collector to follow but those to the large arrays.
package table

import (
	"errors"
	"net/netip"
)

// MaxAddrs bounds the addresses of one name: a message of 65,535 octets has no room for more of them.
const MaxAddrs = 2000

// What a builder can refuse.
var (
	// ErrTooManyAddrs refuses one more address for a name that has MaxAddrs.
	ErrTooManyAddrs = errors.New("name has too many addresses")
	// ErrFull refuses everything that follows: the names do not fit into a table (2 GiB).
	ErrFull = errors.New("table is full")
)

// Match says how a name exists in a table.
type Match uint8

// The ways to exist. Parent means that the name has no entry itself but another one below it has: an empty
// non-terminal (RFC 8499).
const (
	None Match = iota
	Parent
	Exact
)

// Ref stands for the addresses of a name, within the table that it came from.
type Ref uint32

// listBit marks a Ref to several addresses: the rest is an index into Table.lists. Without it the rest is an index
// into Table.addrs.
const listBit = 1 << 31

// Table maps names to addresses and addresses to names. The zero value is an empty table.
type Table struct {
	names   names
	addrs   [][16]byte // IPv4 addresses are mapped ones
	byAddr  index      // hash of an address: its index in addrs, plus one
	lists   []uint32   // a count, then so many indices into addrs; lists that are equal are stored once
	revEnd  []uint32   // for each address: where its names end in rev; they start where those of the last one end
	rev     []uint32   // positions of names, for each address in the order of their lines
	entries int
	depth   int // the most labels that a name has
}

// Find returns how the name exists, and when Exact its addresses.
func (t *Table) Find(k Key) (Match, Ref) {
	pos := t.names.look(k.name, k.hash)
	switch {
	case pos == 0:
		return None, 0
	case pos&parentBit != 0:
		return Parent, 0
	}
	return Exact, Ref(t.names.arena.ref(pos))
}

// Addrs returns how many addresses r stands for.
func (t *Table) Addrs(r Ref) int {
	if r&listBit == 0 {
		return 1
	}
	return int(t.lists[r&^listBit])
}

// Addr returns the i-th address of r, in the order of their lines.
func (t *Table) Addr(r Ref, i int) netip.Addr {
	id := uint32(r)
	if r&listBit != 0 {
		id = t.lists[int(r&^listBit)+1+i]
	}
	return netip.AddrFrom16(t.addrs[id]).Unmap()
}

// Names are the names of one address.
type Names struct {
	t   *Table
	pos []uint32
}

// Names returns the names of a, without the wildcards among them, in the order of their lines.
func (t *Table) Names(a netip.Addr) Names {
	id, ok := findAddr(&t.byAddr, t.addrs, a.As16())
	if !ok {
		return Names{}
	}
	start := uint32(0)
	if id > 0 {
		start = t.revEnd[id-1]
	}
	return Names{t, t.rev[start:t.revEnd[id]]}
}

// Len returns how many names there are.
func (n Names) Len() int { return len(n.pos) }

// At returns the i-th name in wire format, with more octets behind its end. The caller must not change it.
func (n Names) At(i int) []byte { return n.t.names.arena.at(n.pos[i]) }

// Entries returns how many pairs of a name and an address the table holds.
func (t *Table) Entries() int { return t.entries }

// Depth returns how many labels the longest names have: nothing with more of them exists.
func (t *Table) Depth() int { return t.depth }

// Size returns the bytes that the table takes.
func (t *Table) Size() int {
	return t.names.size() + 16*cap(t.addrs) + 8*cap(t.byAddr.slots) + 4*(cap(t.lists)+cap(t.revEnd)+cap(t.rev))
}

func findAddr(x *index, addrs [][16]byte, a [16]byte) (id uint32, ok bool) {
	if x.n == 0 {
		return 0, false
	}
	hash := hashOf(a[:])
	for i := x.home(hash); ; i = x.next(i) {
		slot := x.slots[i]
		if slot == 0 {
			return 0, false
		}
		if id = uint32(slot) - 1; uint32(slot>>32) == hash && addrs[id] == a {
			return id, true
		}
	}
}

// Has reports whether name, which is in wire format, has the address a.
func (t *Table) Has(name []byte, a netip.Addr) bool {
	m, ref := t.Find(Key{name, hashOf(name)})
	if m != Exact {
		return false
	}
	for i := range t.Addrs(ref) {
		if t.Addr(ref, i) == a {
			return true
		}
	}
	return false
}
