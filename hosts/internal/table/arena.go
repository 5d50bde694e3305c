package table

import (
	"encoding/binary"

	"github.com/trident-dns/trident/hosts/internal/wire"
)

const (
	// chunkBits makes chunks of 1 MiB: large enough that a million names are some thirty slices for the collector,
	// small enough that the unused end of the last one matters little while a table is built.
	chunkBits = 20
	chunkSize = 1 << chunkBits

	// refSize is the room in front of every name for its reference.
	refSize = 4

	// maxPos bounds positions to 31 bits, the 32nd marks parents in the index.
	maxPos = 1<<31 - 1
)

// arena keeps names one after the other, each behind a reference of 32 bits whose meaning is the owner's. A position
// points at the first octet of a name, or of a suffix of one; no name straddles two chunks. 0 is never a position.
type arena struct {
	chunks [][]byte
}

// add stores name with ref and returns its position, or 0 when the arena is full.
func (a *arena) add(ref uint32, name []byte) uint32 {
	need := refSize + len(name)
	last := len(a.chunks) - 1
	switch {
	case last < 0:
		a.chunks = append(a.chunks, nil) // grows by doubling: most tables are small
		last = 0
	case len(a.chunks[last])+need > chunkSize:
		if len(a.chunks) == maxPos>>chunkBits {
			return 0
		}
		a.chunks = append(a.chunks, make([]byte, 0, chunkSize))
		last++
	}
	c := binary.LittleEndian.AppendUint32(a.chunks[last], ref)
	pos := uint32(last)<<chunkBits | uint32(len(c))
	a.chunks[last] = append(c, name...)
	return pos
}

// at returns the octets from pos to the end of its chunk: a name, and what follows it.
func (a *arena) at(pos uint32) []byte { return a.chunks[pos>>chunkBits][pos&(chunkSize-1):] }

// equal reports whether the name at pos is name. A name contains its own end, so comparing len(name) octets is enough.
func (a *arena) equal(pos uint32, name []byte) bool {
	b := a.at(pos)
	return len(b) >= len(name) && string(b[:len(name)]) == string(name)
}

func (a *arena) ref(pos uint32) uint32 {
	return binary.LittleEndian.Uint32(a.chunks[pos>>chunkBits][pos&(chunkSize-1)-refSize:])
}

func (a *arena) setRef(pos, ref uint32) {
	binary.LittleEndian.PutUint32(a.chunks[pos>>chunkBits][pos&(chunkSize-1)-refSize:], ref)
}

// each calls f with the position of every name that was added, in that order.
func (a *arena) each(f func(pos uint32)) {
	for i, c := range a.chunks {
		for off := refSize; off < len(c); {
			f(uint32(i)<<chunkBits | uint32(off))
			off += wire.Len(c[off:]) + refSize
		}
	}
}

// trim gives the unused end of the last chunk back.
func (a *arena) trim() {
	if n := len(a.chunks) - 1; n >= 0 {
		a.chunks[n] = append(make([]byte, 0, len(a.chunks[n])), a.chunks[n]...)
	}
}

// size returns the bytes in use.
func (a *arena) size() int {
	n := 0
	for _, c := range a.chunks {
		n += cap(c)
	}
	return n
}
