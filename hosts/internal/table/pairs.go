package table

// pair is one entry while a table is built: a name has an address.
type pair struct {
	name uint32 // position in the arena
	addr uint32 // index of the address
	prev uint32 // the pair before it of the same name, or noPair
}

const (
	noPair   = 1<<32 - 1
	pairBits = 14 // 16,384 pairs a block: 192 KiB
)

// pairs is a list of pairs in the order of their lines, in blocks so that growing copies nothing.
type pairs struct {
	blocks [][]pair
	n      int
}

func (l *pairs) add(p pair) uint32 {
	last := l.n >> pairBits
	if last == len(l.blocks) {
		l.blocks = append(l.blocks, nil)
	}
	if last > 0 && l.blocks[last] == nil {
		l.blocks[last] = make([]pair, 0, 1<<pairBits) // only the first one grows: most tables are small
	}
	l.blocks[last] = append(l.blocks[last], p)
	l.n++
	return uint32(l.n - 1)
}

func (l *pairs) at(i uint32) pair { return l.blocks[i>>pairBits][i&(1<<pairBits-1)] }

func (l *pairs) each(f func(pair)) {
	for _, b := range l.blocks {
		for _, p := range b {
			f(p)
		}
	}
}
