package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/trident-dns/trident/hosts/internal/hostsfile"
)

// verifyEvery is how often the content is compared although the file system says that nothing changed: some, network
// and overlay file systems above all, keep no change time worth the name.
const verifyEvery = time.Minute

// errNotAFile refuses directories, and pipes and devices, whose reading may never end.
var errNotAFile = errors.New("not a regular file")

// file follows one file. It is used by one goroutine.
type file struct {
	path string
	kind Kind
	poll time.Duration // how long to wait before trying again what failed
	open opener

	part   Part
	loaded bool   // part holds content
	good   stamp  // of the content in part
	hash   uint64 // of the content in part

	started bool      // check ran before
	tried   stamp     // of what was read last, with whatever result
	readAt  time.Time // when that was
	retryAt time.Time // when to read again although the stamp stays; zero when that would lead to the same result

	pending stamp     // a change that waits for the file to stand still
	since   time.Time // when it was seen first; zero when nothing waits

	err      error // of the last attempt
	missing  bool  // err says that there is no such file
	detached bool  // the file has no name any more: only a mount still shows it
}

// outcome is what a check of a file came to.
type outcome struct {
	kind     outcomeKind
	report   hostsfile.Report
	again    time.Duration // check again after so long, 0 for at the next poll
	repeated bool          // of failed: as the attempt before
	detached bool          // the file has lost its name since the last check
}

type outcomeKind uint8

const (
	nothing   outcomeKind = iota // no change, or one that waits
	changed                      // part is new
	unchanged                    // the file was read and its content is what it was
	failed                       // err is set
)

// check looks at the file and reads it when it changed and stands still. The first check does not wait for that: a
// server that starts has nothing better. The end of ctx ends a reading under way, as one that failed.
func (f *file) check(ctx context.Context, now time.Time) outcome {
	was := f.detached
	out := f.look(ctx, now)
	out.detached = f.detached && !was
	return out
}

func (f *file) look(ctx context.Context, now time.Time) outcome {
	first := !f.started
	f.started = true
	st, err := f.stat()
	if err != nil {
		f.tried, f.since = stamp{}, time.Time{} // whatever comes back is read, be it what was there before
		return f.fail(err)
	}
	f.detached = st.links == 0
	if !f.due(st, now) {
		f.since = time.Time{}
		return outcome{}
	}
	if !first {
		if wait := f.settle(st, now); wait > 0 {
			return outcome{again: min(wait, settleTime)} // a writer may have gone before that
		}
	}
	kind, report, err := f.read(ctx, st)
	if errors.Is(err, errUnsettled) {
		f.since = time.Time{}
		return outcome{again: settleTime}
	}
	f.since, f.tried, f.readAt, f.retryAt = time.Time{}, st, now, time.Time{}
	if err != nil {
		if !isContentError(err) {
			f.retryAt = now.Add(f.poll)
		}
		out := f.fail(err)
		out.report = report
		return out
	}
	f.err, f.missing = nil, false
	return outcome{kind: kind, report: report}
}

func (f *file) stat() (stamp, error) {
	fi, err := os.Stat(f.path)
	if err != nil {
		return stamp{}, err
	}
	if !fi.Mode().IsRegular() && f.path != os.DevNull {
		return stamp{}, fmt.Errorf("%w: %s is %v", errNotAFile, f.path, fi.Mode())
	}
	return stampOf(fi), nil
}

// due reports whether a file with the stamp st is to be read.
func (f *file) due(st stamp, now time.Time) bool {
	switch {
	case f.readAt.IsZero() || st != f.tried:
		return true
	case !f.retryAt.IsZero():
		return !now.Before(f.retryAt)
	}
	return f.loaded && (!trustStamp || now.Sub(f.readAt) >= verifyEvery)
}

// settle returns how long to wait before a file with the stamp st may be read, 0 when it stood still long enough.
func (f *file) settle(st stamp, now time.Time) time.Duration {
	if st == f.tried {
		return 0 // what moved is not the file but the time
	}
	if f.since.IsZero() || st != f.pending {
		f.pending, f.since = st, now
	}
	return f.since.Add(patience(st, f.good, f.hints(st))).Sub(now)
}

// fail notes err and compares it with the one before.
func (f *file) fail(err error) outcome {
	repeated := f.err != nil && f.err.Error() == err.Error()
	f.err, f.missing = err, errors.Is(err, fs.ErrNotExist)
	return outcome{kind: failed, repeated: repeated}
}

// settled reports whether all is known about the file that can be: it is loaded, or not there.
func (f *file) settled() bool { return f.loaded || f.missing }
