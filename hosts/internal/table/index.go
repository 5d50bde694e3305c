package table

// index finds 32-bit values by 32-bit hashes: open addressing with linear probing, eight bytes a slot, the hash in
// the upper half and the value in the lower. A value of 0 is a free slot.
//
// The slot of a hash is its share of the range of all hashes, so walking the slots in order visits the hashes nearly
// in order, and growing to any size is a copy from one end to the other that looks at nothing but the slots.
type index struct {
	slots []uint64
	n     int
}

// Slots are filled to 4/5: a miss then looks at two cache lines on average. Growing by 3/2 keeps what a build
// allocates near what it needs.
const minSlots = 8

func newIndex(values int) index { return index{slots: make([]uint64, slotsFor(values))} }

func slotsFor(values int) int { return max(minSlots, values+values/4+1) }

// home returns the slot where the search for h starts.
func (x *index) home(h uint32) int { return int(uint64(h) * uint64(len(x.slots)) >> 32) }

// next returns the slot after i.
func (x *index) next(i int) int {
	if i++; i < len(x.slots) {
		return i
	}
	return 0
}

// insert adds v, which must not be 0, for h. It does not look for an equal one: callers search first.
func (x *index) insert(h, v uint32) {
	if x.n+1 > len(x.slots)/5*4 {
		x.resize(max(minSlots, len(x.slots)+len(x.slots)/2))
	}
	x.put(uint64(h)<<32 | uint64(v))
	x.n++
}

func (x *index) put(slot uint64) {
	i := x.home(uint32(slot >> 32))
	for x.slots[i] != 0 {
		i = x.next(i)
	}
	x.slots[i] = slot
}

func (x *index) resize(slots int) {
	old := x.slots
	x.slots = make([]uint64, slots)
	for _, s := range old {
		if s != 0 {
			x.put(s)
		}
	}
}

// fit shrinks the index to what its values need.
func (x *index) fit() {
	if want := slotsFor(x.n); want < len(x.slots) {
		x.resize(want)
	}
}
