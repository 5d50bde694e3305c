package source

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"os"

	"github.com/trident-dns/trident/hosts/internal/hostsfile"
	"github.com/trident-dns/trident/hosts/internal/table"
)

// errUnsettled says that a file changed while it was read.
var errUnsettled = errors.New("file changed while it was read")

// contentSeed makes the hashes of contents unguessable.
var contentSeed = maphash.MakeSeed()

// reader is an open file.
type reader interface {
	io.ReadCloser
	io.ReaderAt
	io.Seeker
	Stat() (os.FileInfo, error)
}

// opener opens a file; tests replace it to make reads fail.
type opener func(path string) (reader, error)

func openFile(path string) (reader, error) { return os.Open(path) }

// isContentError reports whether err is about what the file says: reading it again would lead to the same.
func isContentError(err error) bool {
	for _, e := range []error{
		ErrNothing, table.ErrFull,
		hostsfile.ErrUTF16, hostsfile.ErrUTF32, hostsfile.ErrHalfUTF16, hostsfile.ErrCompressed,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// maxReads is how often a file that keeps changing is read when there is nothing else to serve. What the last one
// brings is taken, and replaced as soon as the file stands still.
const maxReads = 3

// read loads the file, which has the stamp st, unless its content is what is loaded.
func (f *file) read(ctx context.Context, st stamp) (outcomeKind, hostsfile.Report, error) {
	for n := 1; ; n++ {
		kind, report, err := f.readOnce(ctx, st, !f.loaded && n == maxReads)
		if f.loaded || !errors.Is(err, errUnsettled) {
			return kind, report, err
		}
		var statErr error
		if st, statErr = f.stat(); statErr != nil {
			return failed, report, statErr
		}
	}
}

// readOnce reads the file, which has the stamp st. Unless anyhow is set it refuses what changed meanwhile.
func (f *file) readOnce(ctx context.Context, st stamp, anyhow bool) (outcomeKind, hostsfile.Report, error) {
	r, err := f.open(f.path)
	if err != nil {
		return failed, hostsfile.Report{}, err
	}
	defer func() { _ = r.Close() }()
	if f.loaded && st.size == f.good.size { // somebody may have touched it, or saved it again
		same, err := f.same(ctx, r)
		if err != nil {
			return failed, hostsfile.Report{}, err
		}
		if same {
			f.good = st
			return unchanged, hostsfile.Report{}, nil
		}
	}
	h := &hashReader{r: &endingReader{ctx, r}}
	h.hash.SetSeed(contentSeed)
	part, report, err := Parse(f.path, f.kind, h, st.size)
	if err != nil && !isContentError(err) {
		return failed, report, err
	}
	if after, statErr := f.stat(); !anyhow && (statErr != nil || after != st) {
		return failed, report, errUnsettled
	}
	if err != nil {
		return failed, report, err
	}
	f.part, f.loaded, f.good, f.hash = part, true, st, h.hash.Sum64()
	return changed, report, nil
}

// same reports whether the content of r is what is loaded. It leaves r at the beginning.
func (f *file) same(ctx context.Context, r reader) (bool, error) {
	var h maphash.Hash
	h.SetSeed(contentSeed)
	if _, err := io.Copy(&h, &endingReader{ctx, r}); err != nil {
		return false, err
	}
	_, err := r.Seek(0, io.SeekStart)
	return h.Sum64() == f.hash, err
}

// hints looks at the end of a file of the stamp st, and at who else has it open. What cannot be found out is not
// reported.
func (f *file) hints(st stamp) hints {
	r, err := f.open(f.path)
	if err != nil {
		return hints{}
	}
	defer func() { _ = r.Close() }()
	h := hints{writer: hasWriter(r)}
	if st.size > 0 {
		var last [1]byte
		_, err = r.ReadAt(last[:], st.size-1)
		h.midLine = err == nil && last[0] != '\n' && last[0] != '\r' && last[0] != 0 // 0 ends a UTF-16 line feed
	}
	return h
}

// hashReader hashes what is read through it.
type hashReader struct {
	r    io.Reader
	hash maphash.Hash
}

func (h *hashReader) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	_, _ = h.hash.Write(p[:n]) // never fails
	return n, err
}

// endingReader fails once its context has ended.
type endingReader struct {
	ctx context.Context
	r   io.Reader
}

func (e *endingReader) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(p)
}
