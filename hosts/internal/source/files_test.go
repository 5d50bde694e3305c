package source

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/hosts/internal/hostsfile"
	"github.com/trident-dns/trident/hosts/internal/table"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder notes what an Observer is told.
type recorder struct {
	mu     sync.Mutex
	events []string
	last   map[string]error
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

func (r *recorder) Loaded(p Part, _ time.Duration) {
	r.note("loaded %s %d", filepath.Base(p.Name), p.Entries())
}
func (r *recorder) Problems(name string, report hostsfile.Report) {
	r.note("problems %s %d", filepath.Base(name), report.Problems())
}
func (r *recorder) Unchanged(name string) { r.note("unchanged %s", filepath.Base(name)) }
func (r *recorder) NotKept(string, error) { r.note("not kept") }
func (r *recorder) Detached(name string)  { r.note("detached %s", filepath.Base(name)) }
func (r *recorder) Gone(name string)      { r.note("gone %s", filepath.Base(name)) }
func (r *recorder) Failed(name string, err error, kept, repeated bool) {
	if !repeated {
		r.note("failed %s kept=%t", filepath.Base(name), kept)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]error{}
	}
	r.last[filepath.Base(name)] = err
}

func (r *recorder) saw(event string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.events, event)
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// within polls until ok, or fails the test when that takes too long. It returns how long it took.
func within(t testing.TB, limit time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	for !ok() {
		if time.Since(start) > limit {
			t.Fatalf("after %v: still not %s", limit, what)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(start)
}

// patient is longer than anything may take on a busy machine.
const patient = 20 * time.Second

// follow opens the files of cfg and waits for the first reading.
func follow(t testing.TB, cfg FilesConfig) (*Files, *recorder) {
	t.Helper()
	return followWith(t, cfg, openFile)
}

func followWith(t testing.TB, cfg FilesConfig, open opener) (*Files, *recorder) {
	t.Helper()
	r := &recorder{}
	f := openFiles(cfg, r, open)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	<-f.Tried()
	return f, r
}

// addrs returns the addresses of name in all parts of s, joined.
func addrs(t testing.TB, s Source, name string) string {
	t.Helper()
	var q table.Question
	if err := q.Set(name); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range s.Parts() {
		if m, ref := p.Hosts.Find(q.Key(0)); m == table.Exact {
			for i := range p.Hosts.Addrs(ref) {
				all = append(all, p.Hosts.Addr(ref, i).String())
			}
		}
	}
	return strings.Join(all, " ")
}

func save(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace renames a new file over path.
func replace(t testing.TB, path, text string) {
	t.Helper()
	tmp := filepath.Join(t.TempDir(), "new")
	save(t, tmp, text)
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

// slow makes sure that it is the events of the system that bring a change, not the poll.
const slow = time.Hour

// A change in place, by a rename over the file and by a ConfigMap volume's links is served soon after it, however it
// is made.
func TestChangesAreSeenWithoutPolling(t *testing.T) {
	changes := map[string]func(t *testing.T, dir, path string){
		"written in place": func(t *testing.T, _, path string) { save(t, path, "10.0.0.2 a\n") },
		"renamed over":     func(t *testing.T, _, path string) { replace(t, path, "10.0.0.2 a\n") },
		"removed, then written": func(t *testing.T, _, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			save(t, path, "10.0.0.2 a\n")
		},
		"same size and times": func(t *testing.T, _, path string) {
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			save(t, path, "10.0.0.2 a\n")
			if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "hosts")
			save(t, path, "10.0.0.1 a\n")
			f, _ := follow(t, FilesConfig{Pattern: path, Reload: slow})
			if got := addrs(t, f, "a."); got != "10.0.0.1" || !f.Ready() {
				t.Fatalf("at start: %q, ready %t", got, f.Ready())
			}
			for round := range 3 { // a watch may end with the file that it was set on
				change(t, dir, path)
				within(t, patient, "changed", func() bool { return addrs(t, f, "a.") == "10.0.0.2" })
				replace(t, path, "10.0.0.1 a\n")
				within(t, patient, fmt.Sprint("changed back, round ", round), func() bool {
					return addrs(t, f, "a.") == "10.0.0.1"
				})
			}
		})
	}
}

// Kubernetes puts the content of a ConfigMap behind a link called ..data, which it swaps.
func TestConfigMapVolume(t *testing.T) {
	for _, expand := range []bool{false, true} {
		t.Run(fmt.Sprintf("expand=%t", expand), func(t *testing.T) {
			dir := t.TempDir()
			generation := func(n int, text string) {
				data := filepath.Join(dir, fmt.Sprintf("..gen%d", n))
				if err := os.Mkdir(data, 0o755); err != nil {
					t.Fatal(err)
				}
				save(t, filepath.Join(data, "hosts"), text)
				tmp := filepath.Join(dir, "..data_tmp")
				if err := os.Symlink(filepath.Base(data), tmp); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(tmp, filepath.Join(dir, "..data")); err != nil {
					t.Fatal(err)
				}
			}
			generation(1, "10.0.0.1 a\n")
			path := filepath.Join(dir, "hosts")
			if err := os.Symlink("..data/hosts", path); err != nil {
				t.Fatal(err)
			}
			cfg := FilesConfig{Pattern: path, Reload: slow}
			if expand {
				cfg = FilesConfig{Pattern: dir, Expand: true, Reload: slow}
			}
			f, _ := follow(t, cfg)
			for n := 2; n < 5; n++ {
				want := fmt.Sprintf("10.0.0.%d", n)
				generation(n, want+" a\n")
				within(t, patient, "swapped", func() bool { return addrs(t, f, "a.") == want })
			}
		})
	}
}

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

// A container that mounts one file keeps the old one when the host replaces it. A descriptor stands in for the mount.
func TestAFileThatOnlyAMountStillShows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	mount, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mount.Close() }()
	f, r := follow(t, FilesConfig{Pattern: fmt.Sprintf("/proc/self/fd/%d", mount.Fd()), Reload: 10 * time.Millisecond})
	if r.saw("detached " + filepath.Base(f.cfg.Pattern)) {
		t.Errorf("before the file was replaced: %v", r.all())
	}
	replace(t, path, "10.0.0.2 a\n")
	within(t, patient, "noticed", func() bool { return r.saw("detached " + filepath.Base(f.cfg.Pattern)) })
	if got := addrs(t, f, "a."); got != "10.0.0.1" {
		t.Errorf("got %q", got)
	}
}

// Close does not wait for a large file to be read to its end.
func TestCloseEndsAReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	r := &recorder{}
	reading := make(chan struct{})
	f := openFiles(FilesConfig{Pattern: path, Reload: slow}, r, func(path string) (reader, error) {
		file, err := openFile(path)
		return &endless{file, reading, false}, err
	})
	<-reading
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if len(f.Parts()) != 0 || r.saw("failed hosts kept=false") {
		t.Errorf("%d parts, %v", len(f.Parts()), r.all())
	}
}

// endless is a file without an end.
type endless struct {
	reader
	reading chan struct{} // closed at the first read
	begun   bool
}

func (e *endless) Read(p []byte) (int, error) {
	if !e.begun {
		close(e.reading)
		e.begun = true
	}
	return copy(p, "10.0.0.1 a\n"), nil
}

func TestTouchingAFileLoadsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	f, r := follow(t, FilesConfig{Pattern: path, Reload: slow})
	before := f.Parts()[0].Hosts
	if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	within(t, patient, "looked at", func() bool { return r.saw("unchanged hosts") })
	if f.Parts()[0].Hosts != before {
		t.Error("the table was built again")
	}
}

func TestAMissingFileIsReadyAndAppears(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	f, r := follow(t, FilesConfig{Pattern: path, Reload: slow})
	if !f.Ready() || len(f.Parts()) != 0 || !r.saw("failed hosts kept=false") {
		t.Errorf("ready %t, %d parts, %v", f.Ready(), len(f.Parts()), r.all())
	}
	save(t, path, "10.0.0.1 a\n")
	within(t, patient, "there", func() bool { return addrs(t, f, "a.") == "10.0.0.1" })
}

// A directory above the file that is missing too cannot be watched: polling finds it.
func TestAMissingDirectoryAppears(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sub", "dir")
	path := filepath.Join(dir, "hosts")
	f, _ := follow(t, FilesConfig{Pattern: path, Reload: 10 * time.Millisecond})
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	save(t, path, "10.0.0.1 a\n")
	within(t, patient, "there", func() bool { return addrs(t, f, "a.") == "10.0.0.1" })
}

func TestAFileThatCannotBeUsedIsNotReady(t *testing.T) {
	dir := t.TempDir()
	f, _ := follow(t, FilesConfig{Pattern: dir, Reload: slow}) // a path, which is a directory
	if f.Ready() || len(f.Parts()) != 0 {
		t.Errorf("a directory: ready %t, %d parts", f.Ready(), len(f.Parts()))
	}
	path := filepath.Join(dir, "hosts")
	save(t, path, "nonsense\n")
	f, _ = follow(t, FilesConfig{Pattern: path, Reload: slow})
	if f.Ready() {
		t.Error("a file of nonsense is ready")
	}
	save(t, path, "10.0.0.1 a\n")
	within(t, patient, "ready", f.Ready)
}

func TestReloadOffReadsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	f, r := follow(t, FilesConfig{Pattern: path})
	save(t, path, "10.0.0.2 a\n")
	other, _ := follow(t, FilesConfig{Pattern: path, Reload: slow}) // watches the same file
	save(t, path, "10.0.0.3 a\n")
	within(t, patient, "changed elsewhere", func() bool { return addrs(t, other, "a.") == "10.0.0.3" })
	if got := addrs(t, f, "a."); got != "10.0.0.1" {
		t.Errorf("got %q, %v", got, r.all())
	}
}

func TestWhatIsHeldStaysAfterClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	save(t, path, "10.0.0.1 a\n")
	r := &recorder{}
	f := OpenFiles(FilesConfig{Pattern: path, Reload: slow}, r)
	<-f.Tried()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := addrs(t, f, "a."); got != "10.0.0.1" || !r.saw("gone hosts") {
		t.Errorf("%q, %v", got, r.all())
	}
}

// Lookups go on while tables are replaced under them, and see one table or the other.
func TestLookupsDuringReloads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	text := func(n int) string {
		return strings.Repeat(fmt.Sprintf("10.0.0.%d a\n", n), 1+n*10) + fmt.Sprintf("10.0.0.%d b\n", n)
	}
	save(t, path, text(1))
	f, _ := follow(t, FilesConfig{Pattern: path, Reload: time.Millisecond})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			key := func(name string) table.Key {
				var q table.Question
				if err := q.Set(name); err != nil {
					t.Error(err)
				}
				return q.Key(0)
			}
			ka, kb := key("a."), key("b.")
			for {
				select {
				case <-stop:
					return
				default:
				}
				tab := f.Parts()[0].Hosts
				_, ra := tab.Find(ka)
				_, rb := tab.Find(kb)
				if a, b := tab.Addr(ra, 0), tab.Addr(rb, 0); a != b || !a.IsPrivate() {
					t.Errorf("half of a table: %v and %v", a, b)
					return
				}
				if tab.Names(netip.AddrFrom4([4]byte{10, 0, 0, 9})).Len() != 0 {
					t.Error("an address that nobody has")
				}
			}
		})
	}
	for n := 2; n < 8; n++ {
		replace(t, path, text(n))
		within(t, patient, "changed", func() bool { return addrs(t, f, "b.") == fmt.Sprintf("10.0.0.%d", n) })
	}
	close(stop)
	wg.Wait()
}
