package table

import "hash/maphash"

// seed makes hashes unguessable, so that nobody can write a list whose names all collide.
var seed = maphash.MakeSeed()

func hashOf(name []byte) uint32 { return uint32(maphash.Bytes(seed, name) >> 32) }

// parentBit marks an index value whose name exists only because another ends in it. Its position is inside that
// other name, so it costs a slot and no octets, and it has no reference.
const parentBit = 1 << 31

// names is a set of domain names, each with a reference.
type names struct {
	arena arena
	index index
}

// find returns the index slot of name, or -1.
func (s *names) find(name []byte, hash uint32) int {
	if s.index.n == 0 {
		return -1
	}
	for i := s.index.home(hash); ; i = s.index.next(i) {
		slot := s.index.slots[i]
		if slot == 0 {
			return -1
		}
		if uint32(slot>>32) == hash && s.arena.equal(uint32(slot)&^parentBit, name) {
			return i
		}
	}
}

// look returns the position of name. A parent has a position with parentBit set; 0 means that name does not exist.
func (s *names) look(name []byte, hash uint32) uint32 {
	if i := s.find(name, hash); i >= 0 {
		return uint32(s.index.slots[i])
	}
	return 0
}

// add returns the position of name, which it stores with ref when it is new or was a parent only. full reports that
// there is no room; the set is then as before.
func (s *names) add(name []byte, ref uint32) (pos uint32, isNew, full bool) {
	hash := hashOf(name)
	i := s.find(name, hash)
	if i >= 0 && s.index.slots[i]&parentBit == 0 {
		return uint32(s.index.slots[i]), false, false
	}
	if pos = s.arena.add(ref, name); pos == 0 {
		return 0, false, true
	}
	if i >= 0 {
		s.index.slots[i] = uint64(hash)<<32 | uint64(pos)
	} else {
		s.index.insert(hash, pos)
	}
	return pos, true, false
}

// addParents makes the names above the one at pos exist (RFC 4592 section 2.2.2). The parents of a name that exists
// exist already, so it stops at the first.
func (s *names) addParents(pos uint32, name []byte) {
	for off := 0; name[off] != 0; {
		off += int(name[off]) + 1
		hash := hashOf(name[off:])
		if s.find(name[off:], hash) >= 0 {
			return
		}
		s.index.insert(hash, (pos+uint32(off))|parentBit)
	}
}

// fit gives back what the building left unused.
func (s *names) fit() {
	s.index.fit()
	s.arena.trim()
}

func (s *names) size() int { return s.arena.size() + 8*cap(s.index.slots) }
