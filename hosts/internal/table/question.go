package table

import "github.com/trident-dns/trident/hosts/internal/wire"

// maxLabels is what fits into 255 octets, the root not counted.
const maxLabels = 127

// Question is a name as tables are asked for it: in wire format, hashed once for all of them. The zero value is of no
// use before Set. It lives on the stack of whoever asks.
type Question struct {
	wire   [wire.MaxName]byte
	n      int
	labels int
	start  [maxLabels + 1]uint8 // of each label, and of the root
	hash   [maxLabels + 1]uint32
	hashed [2]uint64 // a bit for each suffix whose hash is known
	wild   [wire.MaxName + 2]byte
}

// Key is a name with its hash, valid until the Question it came from changes.
type Key struct {
	name []byte
	hash uint32
}

// Set makes q the question for the name that text presents.
func (q *Question) Set(text string) error {
	b, err := wire.Append(q.wire[:0], text)
	if err != nil {
		return err
	}
	q.n, q.labels, q.hashed = len(b), 0, [2]uint64{}
	for i := 0; b[i] != 0; i += int(b[i]) + 1 {
		q.start[q.labels] = uint8(i)
		q.labels++
	}
	q.start[q.labels] = uint8(q.n - 1)
	return nil
}

// Labels returns how many labels the name has, the root not counted.
func (q *Question) Labels() int { return q.labels }

// Suffix returns the name without its first skip labels, in wire format. The caller must not change it.
func (q *Question) Suffix(skip int) []byte { return q.wire[q.start[skip]:q.n] }

// Key returns the key of the name without its first skip labels.
func (q *Question) Key(skip int) Key {
	name := q.Suffix(skip)
	if bit := uint64(1) << (skip % 64); q.hashed[skip/64]&bit == 0 {
		q.hashed[skip/64] |= bit
		q.hash[skip] = hashOf(name)
	}
	return Key{name, q.hash[skip]}
}

// Wildcard returns the key of the wildcard name directly below the name without its first skip labels. It is valid
// until the next call. ok is false when such a name would be too long to exist.
func (q *Question) Wildcard(skip int) (k Key, ok bool) {
	b := append(append(q.wild[:0], 1, '*'), q.Suffix(skip)...)
	if len(b) > wire.MaxName {
		return Key{}, false
	}
	return Key{b, hashOf(b)}, true
}
