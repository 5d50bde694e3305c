// Package source keeps the content of files and URLs in memory, parsed, and follows their changes. What it holds is
// only ever replaced by something that was read to its end and makes sense: a source that vanishes, is half written
// or turns into nonsense keeps what it last had, says so to its [Observer], and goes on trying.
//
// A source has one goroutine, which ends with Close. What it holds stays readable afterwards: a server answers on
// while it shuts down.
package source

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/trident-dns/trident/hosts/internal/hostsfile"
	"github.com/trident-dns/trident/hosts/internal/table"
)

// Kind says how the text of a source is read.
type Kind uint8

// The kinds of source.
const (
	Hosts Kind = iota // hosts(5) lines: names and their addresses
	List              // a list of names to block or to allow
)

// Part is the content of one file or one URL. It never changes.
type Part struct {
	Name   string       // the path or the URL
	Loaded time.Time    // when it was read
	Hosts  *table.Table // for Hosts, else nil
	List   *table.List  // for List, else nil
}

// Entries returns how many entries the part holds: pairs of a name and an address, or names.
func (p *Part) Entries() int {
	if p.List != nil {
		return p.List.Len()
	}
	return p.Hosts.Entries()
}

// Size returns the bytes that the part takes.
func (p *Part) Size() int {
	if p.List != nil {
		return p.List.Size()
	}
	return p.Hosts.Size()
}

// Source is where entries come from. All methods may be called from several goroutines.
type Source interface {
	// Parts returns what the source holds now. The caller must not change the slice.
	Parts() []Part
	// Tried returns a channel that is closed once the source has been read for the first time, well or not.
	Tried() <-chan struct{}
	// Ready reports whether all that belongs to the source is loaded, or known to be missing.
	Ready() bool
	// Close ends what the source does in the background. Parts stays valid.
	io.Closer
}

// Observer learns what becomes of the parts of a source. The methods are called from the goroutine of the source, one
// at a time for each part, and must not block.
type Observer interface {
	// Loaded is called when a part was read and is about to take effect.
	Loaded(p Part, took time.Duration)
	// Problems is called before Loaded or Failed when something in the text cannot be used.
	Problems(name string, report hostsfile.Report)
	// Unchanged is called when a part was read and its content is what it was.
	Unchanged(name string)
	// Failed is called when a part could not be read or not be used. kept says whether it goes on with content that
	// was loaded before. repeated is set when the attempt before this one had failed in the same way.
	Failed(name string, err error, kept, repeated bool)
	// PollOnly is called when the system does not tell of changes of files, which are found by polling alone.
	PollOnly(pattern string, err error)
	// Detached is called when a file turns out to have been replaced where it comes from, while a mount still shows the
	// old one: what comes after it will never be seen.
	Detached(name string)
	// NotKept is called when the copy of a part on disk cannot be read, or a new one not be written. The part itself
	// is not concerned.
	NotKept(name string, err error)
	// Gone is called when a part no longer belongs to the source, and for every part when the source closes.
	Gone(name string)
}

// ErrNothing refuses a text with problems in which there is nothing else.
var ErrNothing = errors.New("not one usable line")

var errSkip = fmt.Errorf("%w: %w", hostsfile.ErrSkip, table.ErrTooManyAddrs)

// The first size of a table is a guess from the size of the text. More than maxLines are not believed: the size may
// be what a server says.
const (
	bytesPerLine = 24
	maxLines     = 1 << 22
)

// Parse reads the text in r, whose length is about size octets.
func Parse(name string, kind Kind, r io.Reader, size int64) (Part, hostsfile.Report, error) {
	p := Part{Name: name, Loaded: time.Now()}
	lines := int(min(size/bytesPerLine, maxLines))
	var (
		report hostsfile.Report
		err    error
	)
	if kind == List {
		b := table.NewListBuilder(lines)
		report, err = hostsfile.ParseList(r, b.Add)
		if err == nil {
			p.List = b.List()
		}
	} else {
		b := table.NewBuilder(lines)
		report, err = hostsfile.Parse(r, func(name []byte, a netip.Addr) error {
			err := b.Add(name, a)
			if errors.Is(err, table.ErrTooManyAddrs) {
				return errSkip
			}
			return err
		})
		if err == nil {
			p.Hosts = b.Table()
		}
	}
	if err == nil && report.Names == 0 && report.Problems() > 0 {
		err = fmt.Errorf("%w (%s)", ErrNothing, report.First[0])
	}
	return p, report, err
}
