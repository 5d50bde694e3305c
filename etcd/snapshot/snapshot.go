// Package snapshot keeps copies of etcd on disk, so that a server which starts while etcd is away can answer from what
// it knew last. A file holds one section for each range of keys that was copied.
//
// Write replaces a file in one step, and never by something older; a crash at any moment leaves the old file or the new
// one. Open checks every byte before the first record is seen. What the package does not do: it does not keep a file
// from being read by others, so that whoever wants the records of a zone kept private has to mind the directory.
//
// The format, version 1. Integers are varints as in encoding/binary, strings follow their length, checksums are CRC-32
// (Castagnoli) of all that comes before, 4 bytes, big endian:
//
//	magic     8 bytes
//	sections  number of them
//	section   range (start, end), position (cluster, term, revision, began), revisions confirmed after it
//	          ... for each
//	checksum
//	records   key, value, revision, lease; an empty key ends a section
//	          ... for each section
//	checksum
package snapshot

import (
	"errors"
	"hash/crc32"
	"iter"

	"github.com/trident-dns/trident/etcd/mirror"
)

// Errors of this package. What they wrap says more.
var (
	// ErrDamaged says that the file is not what Write wrote.
	ErrDamaged = errors.New("damaged snapshot")
	// ErrVersion says that the file is a snapshot of a version that this one cannot read.
	ErrVersion = errors.New("unknown version of snapshot")
	// ErrOlder says that the file that was to be replaced has a later state.
	ErrOlder = errors.New("snapshot on disk is newer")
	// ErrUnsorted says that records to be written are not in the order of their keys, or leave their range.
	ErrUnsorted = errors.New("records out of order")
)

// magic begins every file; its last byte is the version.
const magic = "trident\x01"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Section is the copy of one range.
type Section struct {
	Range mirror.Range
	// At is what KVs are the state of. At.Keys need not be set for Write.
	At mirror.Position
	// Confirmed is a revision up to which nothing changed after At, as far as etcd has told. Anything before At.Revision
	// stands for that.
	Confirmed int64
	// KVs yields every key in byte order. Read from a file it may be ranged over any number of times, until the file is
	// closed, and the slices that it yields are the receiver's.
	KVs iter.Seq[mirror.KV]
}

// confirmed is At as far as etcd has confirmed it.
func (s Section) confirmed() mirror.Position {
	at := s.At
	at.Revision = max(at.Revision, s.Confirmed)
	return at
}
