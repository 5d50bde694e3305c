package source

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/hosts/internal/table"
)

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
