package snapshot

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"os"

	"github.com/trident-dns/trident/etcd/mirror"
)

// SectionLimit bounds the number of sections of a file.
const SectionLimit = 1 << 12

// File is a snapshot that was found to be whole.
type File struct {
	Sections []Section
	file     *os.File
}

// Open opens a snapshot and checks it. Errors: ErrDamaged, ErrVersion, and those of the file system, os.ErrNotExist
// among them.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading snapshot: %w", err)
	}
	sections, err := check(f)
	if err != nil {
		_ = f.Close() // was only read
		return nil, fmt.Errorf("%w: %s", err, path)
	}
	return &File{Sections: sections, file: f}, nil
}

// Close closes the file. Its sections cannot be read any more.
func (f *File) Close() error { return f.file.Close() }

// SetAside renames a file that Open found damaged, so that it can be looked at, and returns its new name. One that was
// set aside before is lost.
func SetAside(path string) (string, error) {
	aside := path + ".damaged"
	return aside, os.Rename(path, aside)
}

// check reads the whole of f: once for the checksum, and once to find the sections and see that every record parses.
// A checksum tells of damage, and not of a program that wrote something else.
func check(f *os.File) ([]Section, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	body := info.Size() - crc32.Size
	if body < int64(len(magic)) {
		return nil, fmt.Errorf("%w: %d bytes", ErrDamaged, info.Size())
	}
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, body)); err != nil {
		return nil, err
	}
	var want [crc32.Size]byte
	if _, err := f.ReadAt(want[:], body); err != nil {
		return nil, err
	}
	if binary.BigEndian.Uint32(want[:]) != sum.Sum32() {
		return nil, fmt.Errorf("%w: checksum", ErrDamaged)
	}
	return parse(f, body)
}

// parse finds the sections in the first size bytes of r, which are all but the last checksum.
func parse(r io.ReaderAt, size int64) ([]Section, error) {
	d := newDecoder(r, 0, size)
	sections := d.head()
	for i := range sections {
		s := &sections[i]
		keys, start := s.Range, d.offset
		for range d.records(keys) {
			s.At.Keys++
		}
		s.KVs = func(yield func(mirror.KV) bool) { newDecoder(r, start, size).records(keys)(yield) }
	}
	if d.err == nil && d.offset != size {
		d.fail("%d bytes after the last section", size-d.offset)
	}
	if d.err != nil {
		return nil, d.err
	}
	return sections, nil
}

// decoder reads the format and remembers the first error. It allocates nothing that the file is too short to fill.
type decoder struct {
	r      *bufio.Reader
	offset int64 // of the next byte
	size   int64
	sum    hash.Hash32 // of what was read, up to the end of the head; nil after it
	err    error
}

func newDecoder(r io.ReaderAt, offset, size int64) *decoder {
	left := size - offset
	buffered := bufio.NewReaderSize(io.NewSectionReader(r, offset, left), int(min(left, 1<<16)))
	d := &decoder{r: buffered, offset: offset, size: size}
	if offset == 0 {
		d.sum = crc32.New(castagnoli)
	}
	return d
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: byte %d: %w", ErrDamaged, d.offset, fmt.Errorf(format, args...))
	}
}

// ReadByte implements io.ByteReader.
func (d *decoder) ReadByte() (byte, error) {
	b, err := d.r.ReadByte()
	if err == nil {
		d.offset++
		if d.sum != nil { // here, to spare the allocation
			d.hash([]byte{b})
		}
	}
	return b, err
}

func (d *decoder) hash(read []byte) {
	if d.sum != nil {
		_, _ = d.sum.Write(read) // a hash takes everything
	}
}

// uint reads an integer of at most limit.
func (d *decoder) uint(limit uint64) uint64 {
	if d.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(d)
	switch {
	case err != nil:
		d.fail("reading an integer: %w", err)
		return 0
	case n > limit:
		d.fail("%d, expected at most %d", n, limit)
		return 0
	}
	return n
}

func (d *decoder) bytes(n uint64) []byte {
	if left := d.size - d.offset; d.err == nil && n > uint64(left) {
		d.fail("%d bytes, there are %d", n, left)
	}
	if d.err != nil {
		return nil
	}
	buf := make([]byte, n)
	read, err := io.ReadFull(d.r, buf)
	d.offset += int64(read)
	d.hash(buf[:read])
	if err != nil {
		d.fail("reading: %w", err)
	}
	return buf
}

func (d *decoder) string() string { return string(d.bytes(d.uint(math.MaxInt64))) }

// head reads what comes before the records. It returns nothing when there is an error.
func (d *decoder) head() []Section {
	first := d.bytes(uint64(len(magic)))
	switch {
	case d.err != nil:
		return nil
	case string(first[:len(first)-1]) != magic[:len(magic)-1]:
		d.fail("it begins with %q", first)
	case string(first) != magic:
		d.err = fmt.Errorf("%w: %d", ErrVersion, first[len(first)-1])
	}
	var sections []Section
	for n := d.uint(SectionLimit); n > 0 && d.err == nil; n-- {
		sections = append(sections, d.section())
	}
	sum := d.sum.Sum32()
	if stored := d.bytes(crc32.Size); d.err == nil && binary.BigEndian.Uint32(stored) != sum {
		d.fail("checksum of the head")
	}
	if d.err != nil {
		return nil
	}
	d.sum = nil
	return sections
}

// section reads the range and the position of a section.
func (d *decoder) section() Section {
	var s Section
	s.Range = mirror.Range{Start: d.string(), End: d.string()}
	s.At.ClusterID = d.uint(math.MaxUint64)
	s.At.RaftTerm = d.uint(math.MaxUint64)
	s.At.Revision = int64(d.uint(math.MaxInt64))
	s.At.Began = int64(d.uint(math.MaxInt64))
	s.Confirmed = s.At.Revision + int64(d.uint(uint64(math.MaxInt64-s.At.Revision)))
	return s
}

// records reads the records of a section of the range r, and what ends them.
func (d *decoder) records(r mirror.Range) iter.Seq[mirror.KV] {
	return func(yield func(mirror.KV) bool) {
		last := ""
		for {
			kv := mirror.KV{Key: d.string()}
			if d.err != nil || kv.Key == "" {
				return
			}
			kv.Value = d.bytes(d.uint(math.MaxInt64))
			kv.ModRevision = int64(d.uint(math.MaxInt64))
			kv.Lease = int64(d.uint(math.MaxInt64))
			if kv.Key <= last || !r.Contains(kv.Key) {
				d.fail("key %q after %q in %s", kv.Key, last, r)
			}
			last = kv.Key
			if d.err != nil || !yield(kv) {
				return
			}
		}
	}
}
