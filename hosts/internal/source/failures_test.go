package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/hosts/internal/hostsfile"
)

func TestAFileThatIsAwayKeepsItsEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	f, r := follow(t, FilesConfig{Pattern: path, Reload: slow})
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	within(t, patient, "reported", func() bool { return r.saw("failed hosts kept=true") })
	if got := addrs(t, f, "a."); got != "10.0.0.1" || !f.Ready() {
		t.Errorf("while the file is away: %q, ready %t", got, f.Ready())
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	within(t, patient, "seen to be back", func() bool { return r.saw("unchanged hosts") })
	save(t, path, "10.0.0.2 a\n")
	within(t, patient, "changed", func() bool { return addrs(t, f, "a.") == "10.0.0.2" })
}

// On a system where the tests run as root, permissions keep nobody out, so the error is made.
func TestPermissionLostKeepsTheEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	var mu sync.Mutex
	var denied error
	deny := func(err error) { mu.Lock(); denied = err; mu.Unlock() }
	f, r := followWith(t, FilesConfig{Pattern: path, Reload: 20 * time.Millisecond}, func(path string) (reader, error) {
		mu.Lock()
		defer mu.Unlock()
		if denied != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: denied}
		}
		return openFile(path)
	})
	deny(os.ErrPermission)
	save(t, path, "10.0.0.2 a\n")
	within(t, patient, "reported", func() bool { return r.saw("failed hosts kept=true") })
	if got := addrs(t, f, "a."); got != "10.0.0.1" {
		t.Errorf("without permission: %q", got)
	}
	deny(nil)
	within(t, patient, "loaded", func() bool { return addrs(t, f, "a.") == "10.0.0.2" })
}

// halfway fails after some octets.
type halfway struct {
	reader
	left int
}

var errDisk = errors.New("input/output error")

func (h *halfway) Read(p []byte) (int, error) {
	if h.left == 0 {
		return 0, errDisk
	}
	n, err := h.reader.Read(p[:min(len(p), h.left)])
	h.left -= n
	return n, err
}

func TestAReadThatFailsHalfWayKeepsTheEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n10.0.0.1 b\n")
	var mu sync.Mutex
	broken := false
	breakIt := func(b bool) { mu.Lock(); broken = b; mu.Unlock() }
	f, r := followWith(t, FilesConfig{Pattern: path, Reload: 20 * time.Millisecond}, func(path string) (reader, error) {
		file, err := openFile(path)
		mu.Lock()
		defer mu.Unlock()
		if broken && err == nil {
			return &halfway{file, 12}, nil
		}
		return file, err
	})
	breakIt(true)
	save(t, path, "10.0.0.2 a\n10.0.0.2 b\n10.0.0.2 c\n")
	within(t, patient, "reported", func() bool { return r.saw("failed hosts kept=true") })
	if a, b := addrs(t, f, "a."), addrs(t, f, "b."); a != "10.0.0.1" || b != "10.0.0.1" {
		t.Errorf("half of the file is served: %q, %q", a, b)
	}
	breakIt(false)
	within(t, patient, "healed", func() bool { return addrs(t, f, "c.") == "10.0.0.2" })
}

// A writer that empties a file, thinks, and fills it again is never seen half way.
func TestTruncateThenWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	f, r := follow(t, FilesConfig{Pattern: path, Reload: 10 * time.Millisecond})
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	start := time.Now()
	for time.Since(start) < 4*settleTime { // much longer than any other file must stand still
		if got := addrs(t, f, "a."); got != "10.0.0.1" {
			t.Fatalf("%v after the file was emptied: %q (%v)", time.Since(start), got, r.all())
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := io.WriteString(w, "10.0.0.2 a\n"); err != nil {
		t.Fatal(err)
	}
	within(t, patient, "changed", func() bool { return addrs(t, f, "a.") == "10.0.0.2" })
}

// A writer that pauses between two lines, with the file open, is waited for.
func TestAWriterThatPauses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n10.0.0.1 b\n")
	f, r := follow(t, FilesConfig{Pattern: path, Reload: 10 * time.Millisecond})
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "10.0.0.2 a\n"); err != nil {
		t.Fatal(err)
	}
	if reading, err := openFile(path); err != nil || !hasWriter(reading) {
		t.Skipf("the system does not tell who has a file open (%v)", err)
	} else if err := reading.Close(); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 4*settleTime; time.Sleep(time.Millisecond) {
		if a, b := addrs(t, f, "a."), addrs(t, f, "b."); a != "10.0.0.1" || b != "10.0.0.1" {
			t.Fatalf("half of the file is served: %q, %q (%v)", a, b, r.all())
		}
	}
	if _, err := io.WriteString(w, "10.0.0.2 b\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	within(t, patient, "changed", func() bool { return addrs(t, f, "a.") == "10.0.0.2" && addrs(t, f, "b.") == "10.0.0.2" })
}

// Who never closes a file does not keep it from being read.
func TestAWriterThatNeverEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	f, _ := follow(t, FilesConfig{Pattern: path, Reload: slow})
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if _, err := io.WriteString(w, "10.0.0.2 a\n"); err != nil {
		t.Fatal(err)
	}
	within(t, patient, "changed", func() bool { return addrs(t, f, "a.") == "10.0.0.2" })
}

func TestAFileThatStaysEmptyIsEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	f, _ := follow(t, FilesConfig{Pattern: path, Reload: slow})
	save(t, path, "")
	within(t, patient, "empty", func() bool { return addrs(t, f, "a.") == "" })
}

// While a file grows it is not read.
func TestAFileThatIsBeingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	f, _ := follow(t, FilesConfig{Pattern: path, Reload: 5 * time.Millisecond})
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	tick := time.NewTicker(settleTime / 10)
	defer tick.Stop()
	for i := range 60 {
		<-tick.C
		if _, err := fmt.Fprintf(w, "10.0.0.2 n%d\n", i); err != nil {
			t.Fatal(err)
		}
		if got := addrs(t, f, "a."); got != "10.0.0.1" {
			t.Fatalf("after %d lines: %q", i, got)
		}
	}
	if _, err := io.WriteString(w, "10.0.0.2 a\n"); err != nil {
		t.Fatal(err)
	}
	within(t, patient, "changed", func() bool { return addrs(t, f, "a.") == "10.0.0.2" })
}

func TestNonsenseKeepsTheEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	f, r := follow(t, FilesConfig{Pattern: path, Reload: slow})
	for _, tt := range []struct {
		text string
		want error
	}{
		{"<html>\n<h1>502 Bad Gateway</h1>\n", ErrNothing},
		{"\x1f\x8b\x08\x00", hostsfile.ErrCompressed},
		{"1\x000\x00.\x00", hostsfile.ErrUTF16},
	} {
		replace(t, path, tt.text)
		within(t, patient, "reported", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return errors.Is(r.last["hosts"], tt.want)
		})
		if got := addrs(t, f, "a."); got != "10.0.0.1" {
			t.Errorf("%q: %q", tt.text, got)
		}
	}
	if !r.saw("problems hosts 2") {
		t.Errorf("the lines of a refused file are not counted: %v", r.all())
	}
	replace(t, path, "# nothing\n")
	within(t, patient, "empty", func() bool { return addrs(t, f, "a.") == "" })
}
