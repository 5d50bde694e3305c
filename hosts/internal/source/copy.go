package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The copy of a URL on disk is a header of fixed size, which is JSON filled up with blanks to a line feed, and then
// the octets that the server sent. It is written under another name and renamed when it is complete.
const (
	copyVersion    = 1
	copyHeaderSize = 8192
)

type copyHeader struct {
	Version int    `json:"trident_hosts_copy"`
	URL     string `json:"url"`
	validators
	Size int64  `json:"size"`
	CRC  uint32 `json:"crc32c"`
}

var (
	errNoCopy  = errors.New("no copy on disk")
	errBadCopy = errors.New("copy on disk is damaged")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// copyPath returns where the copy of a URL is. The name gives away neither the URL nor a password in it.
func copyPath(cfg URLConfig) string {
	sum := sha256.Sum256([]byte(cfg.URL))
	return filepath.Join(cfg.CacheDir, hex.EncodeToString(sum[:16])+".copy")
}

// readCopy loads the copy of the URL of cfg. The error is errNoCopy, errBadCopy, or what the file system or the
// parsing came to.
func readCopy(cfg URLConfig) (content, error) {
	f, err := os.Open(copyPath(cfg))
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, errNoCopy
	}
	if err != nil {
		return content{}, err
	}
	defer func() { _ = f.Close() }()
	return parseCopy(cfg, f)
}

func parseCopy(cfg URLConfig, r io.Reader) (content, error) {
	head := make([]byte, copyHeaderSize)
	if _, err := io.ReadFull(r, head); err != nil {
		return content{}, fmt.Errorf("%w: %w", errBadCopy, err)
	}
	var h copyHeader
	if err := json.Unmarshal(head, &h); err != nil {
		return content{}, fmt.Errorf("%w: %w", errBadCopy, err)
	}
	if h.Version != copyVersion || h.URL != cfg.URL {
		return content{}, fmt.Errorf("%w: it is of another version or URL", errBadCopy)
	}
	sum := &crcReader{r: r}
	hashed := &hashReader{r: sum}
	hashed.hash.SetSeed(contentSeed)
	part, _, err := Parse(cfg.URL, cfg.Kind, hashed, max(h.Size, 0))
	if _, err := io.Copy(io.Discard, sum); err != nil { // parsing may have given up early
		return content{}, err
	}
	if sum.n != h.Size || sum.crc != h.CRC {
		return content{}, fmt.Errorf("%w: checksum of %d octets", errBadCopy, sum.n)
	}
	if err != nil {
		return content{}, err
	}
	return content{part: part, validators: h.validators, hash: hashed.hash.Sum64()}, nil
}

// copyWriter writes a copy while its content is read. A write that fails is remembered, and does not fail the
// reading.
type copyWriter struct {
	cfg  URLConfig
	f    *os.File
	size int64
	crc  uint32
	err  error
}

// newCopy starts a copy in the directory of cfg, which it makes when it is not there. It removes what a process that
// was killed in the middle has left.
func newCopy(cfg URLConfig) (*copyWriter, error) {
	if err := os.MkdirAll(cfg.CacheDir, 0o755); err != nil {
		return nil, err
	}
	left, _ := filepath.Glob(copyPath(cfg) + ".*.tmp") // the pattern is ours, and nothing to remove is well
	for _, path := range left {
		if fi, err := os.Stat(path); err == nil && time.Since(fi.ModTime()) > 2*fetchTimeout {
			_ = os.Remove(path) // tried again next time
		}
	}
	f, err := os.CreateTemp(cfg.CacheDir, filepath.Base(copyPath(cfg))+".*.tmp")
	if err != nil {
		return nil, err
	}
	w := &copyWriter{cfg: cfg, f: f}
	_, w.err = f.Write(make([]byte, copyHeaderSize))
	return w, nil
}

// Write implements io.Writer. It always succeeds.
func (w *copyWriter) Write(p []byte) (int, error) {
	if w.err == nil {
		_, w.err = w.f.Write(p)
	}
	w.size += int64(len(p))
	w.crc = crc32.Update(w.crc, castagnoli, p)
	return len(p), nil
}

// finish puts the copy in place.
func (w *copyWriter) finish(v validators) error {
	head, err := json.Marshal(copyHeader{copyVersion, w.cfg.URL, v, w.size, w.crc})
	if err != nil {
		return err
	}
	if len(head) >= copyHeaderSize {
		return fmt.Errorf("the URL is too long to keep a copy: %d octets", len(w.cfg.URL))
	}
	head = append(head, bytes.Repeat([]byte(" "), copyHeaderSize-len(head)-1)...)
	if w.err == nil {
		_, w.err = w.f.WriteAt(append(head, '\n'), 0)
	}
	if w.err == nil {
		w.err = w.f.Sync()
	}
	if w.err != nil {
		return w.err
	}
	return os.Rename(w.f.Name(), copyPath(w.cfg))
}

// abandon closes the file, and removes it unless finish has given it its name.
func (w *copyWriter) abandon() {
	_ = w.f.Close()           // synced, or of no use
	_ = os.Remove(w.f.Name()) // fails after finish
}

// crcReader computes the checksum of what is read through it.
type crcReader struct {
	r   io.Reader
	n   int64
	crc uint32
}

func (c *crcReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.crc = crc32.Update(c.crc, castagnoli, p[:n])
	return n, err
}
