package source

import (
	"fmt"
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
func (r *recorder) Unchanged(name string)  { r.note("unchanged %s", filepath.Base(name)) }
func (r *recorder) NotKept(string, error)  { r.note("not kept") }
func (r *recorder) Detached(name string)   { r.note("detached %s", filepath.Base(name)) }
func (r *recorder) PollOnly(string, error) { r.note("poll only") }
func (r *recorder) Gone(name string)       { r.note("gone %s", filepath.Base(name)) }
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
