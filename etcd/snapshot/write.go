package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// Write replaces the file by one with the given sections. Errors: ErrOlder when a section of the file is of the same
// range and later, ErrUnsorted, and those of the file system. The old file stays when there is an error.
func Write(path string, sections []Section) (err error) {
	if err := notOlder(path, sections); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("writing snapshot: %w", err)
	}
	defer func() {
		if err != nil {
			_ = tmp.Close() // closed already, or about to be removed
			_ = os.Remove(tmp.Name())
			err = fmt.Errorf("writing snapshot: %w", err)
		}
	}()
	if err := encode(tmp, sections); err != nil {
		return err
	}
	// The name must not point to data that a crash of the machine could take away.
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a renaming last. Systems that cannot sync a directory have done so already.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, os.ErrInvalid) {
		return err
	}
	return nil
}

// notOlder compares sections with those of the file. One that is damaged is worth nothing.
func notOlder(path string, sections []Section) error {
	f, err := os.Open(path)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	// The positions are in the head. Only when they forbid to write does it matter whether the rest is whole.
	olds := newDecoder(f, 0, info.Size()).head()
	for _, old := range olds {
		for _, s := range sections {
			if s.Range != old.Range || s.confirmed().Follows(old.confirmed()) {
				continue
			}
			if _, err := check(f); err != nil {
				return nil //nolint:nilerr // see above
			}
			return fmt.Errorf("%w: %s has revision %d of %s, to be replaced by %d",
				ErrOlder, path, old.confirmed().Revision, old.Range, s.confirmed().Revision)
		}
	}
	return nil
}

// encoder writes the format and remembers the first error.
type encoder struct {
	w   *bufio.Writer
	out io.Writer   // what w writes to: the file and sum
	sum hash.Hash32 // of what was flushed
	buf []byte      // of one integer
	err error
}

func encode(f io.Writer, sections []Section) error {
	sum := crc32.New(castagnoli)
	out := io.MultiWriter(f, sum)
	e := &encoder{w: bufio.NewWriterSize(out, 1<<16), out: out, sum: sum}
	e.bytes(magic)
	e.uint(uint64(len(sections)))
	for _, s := range sections {
		e.string(s.Range.Start)
		e.string(s.Range.End)
		e.uint(s.At.ClusterID)
		e.uint(s.At.RaftTerm)
		e.uint(uint64(s.At.Revision))
		e.uint(uint64(s.At.Began))
		e.uint(uint64(s.confirmed().Revision - s.At.Revision))
	}
	e.checksum()
	for _, s := range sections {
		e.records(s)
	}
	e.checksum()
	return e.err
}

func (e *encoder) records(s Section) {
	last := ""
	for kv := range s.KVs {
		if e.err != nil {
			return
		}
		if kv.Key <= last || !s.Range.Contains(kv.Key) {
			e.err = fmt.Errorf("%w: key %q after %q in %s", ErrUnsorted, kv.Key, last, s.Range)
			return
		}
		e.string(kv.Key)
		e.string(string(kv.Value))
		e.uint(uint64(kv.ModRevision))
		e.uint(uint64(kv.Lease))
		last = kv.Key
	}
	e.string("")
}

// checksum writes that of all before it.
func (e *encoder) checksum() {
	if e.err == nil {
		e.err = e.w.Flush()
	}
	if e.err == nil {
		_, e.err = e.out.Write(e.sum.Sum(nil))
	}
}

func (e *encoder) uint(n uint64) {
	e.buf = binary.AppendUvarint(e.buf[:0], n)
	if e.err == nil {
		_, e.err = e.w.Write(e.buf)
	}
}

func (e *encoder) bytes(s string) {
	if e.err == nil {
		_, e.err = e.w.WriteString(s)
	}
}

func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.bytes(s)
}
