package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func names(s Source) string {
	var all string
	for _, p := range s.Parts() {
		all += filepath.Base(p.Name) + " "
	}
	return all
}

func TestAPatternFollowsItsFiles(t *testing.T) {
	for what, pattern := range map[string]string{"a directory": "", "a glob": "*.hosts"} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			save(t, filepath.Join(dir, "b.hosts"), "10.0.0.2 b\n")
			save(t, filepath.Join(dir, "a.hosts"), "10.0.0.1 a\n")
			save(t, filepath.Join(dir, ".a.hosts.swp"), "10.0.0.9 swap\n")
			if err := os.Mkdir(filepath.Join(dir, "sub.hosts"), 0o755); err != nil {
				t.Fatal(err)
			}
			f, r := follow(t, FilesConfig{Pattern: filepath.Join(dir, pattern), Expand: true, Reload: slow})
			if got := names(f); got != "a.hosts b.hosts " || !f.Ready() {
				t.Fatalf("%q, ready %t", got, f.Ready())
			}
			save(t, filepath.Join(dir, "c.hosts"), "10.0.0.3 c\n")
			within(t, patient, "there", func() bool { return names(f) == "a.hosts b.hosts c.hosts " })
			save(t, filepath.Join(dir, "a.hosts"), "10.0.0.4 a\n")
			within(t, patient, "changed", func() bool { return addrs(t, f, "a.") == "10.0.0.4" })
			if err := os.Remove(filepath.Join(dir, "b.hosts")); err != nil {
				t.Fatal(err)
			}
			within(t, patient, "removed", func() bool { return names(f) == "a.hosts c.hosts " && r.saw("gone b.hosts") })
		})
	}
}

func TestTheDirectoryIsAwayAndItsFilesKeepTheirEntries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "a.hosts"), "10.0.0.1 a\n")
	for what, pattern := range map[string]string{"a directory": dir, "a glob": filepath.Join(dir, "*.hosts")} {
		t.Run(what, func(t *testing.T) {
			f, r := follow(t, FilesConfig{Pattern: pattern, Expand: true, Reload: 10 * time.Millisecond})
			if err := os.Rename(dir, dir+".away"); err != nil {
				t.Fatal(err)
			}
			within(t, patient, "reported", func() bool { return r.saw("failed a.hosts kept=true") })
			start := time.Now()
			within(t, patient, "settled", func() bool { return time.Since(start) > 2*removeTime })
			if got := addrs(t, f, "a."); got != "10.0.0.1" {
				t.Errorf("while the directory is away: %q (%v)", got, r.all())
			}
			if err := os.Rename(dir+".away", dir); err != nil {
				t.Fatal(err)
			}
			within(t, patient, "back", func() bool { return r.saw("unchanged a.hosts") })
		})
	}
}

// One file that makes no sense does not keep the others from being followed.
func TestABadFileAmongGoodOnes(t *testing.T) {
	dir := t.TempDir()
	save(t, filepath.Join(dir, "a"), "10.0.0.1 a\n")
	save(t, filepath.Join(dir, "b"), "nonsense\n")
	f, r := follow(t, FilesConfig{Pattern: dir, Expand: true, Reload: slow})
	if got := names(f); got != "a " || f.Ready() || !r.saw("failed b kept=false") {
		t.Errorf("%q, ready %t, %v", got, f.Ready(), r.all())
	}
	save(t, filepath.Join(dir, "a"), "10.0.0.2 a\n")
	within(t, patient, "changed", func() bool { return addrs(t, f, "a.") == "10.0.0.2" })
}

func TestTooManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range maxFiles + 3 {
		save(t, filepath.Join(dir, fmt.Sprintf("%04d", i)), fmt.Sprintf("10.0.0.1 n%d\n", i))
	}
	f, r := follow(t, FilesConfig{Pattern: dir, Expand: true, Reload: slow})
	if n := len(f.Parts()); n != maxFiles || !f.Ready() {
		t.Errorf("%d parts, ready %t", n, f.Ready())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.last[filepath.Base(dir)]; !errors.Is(err, ErrTooManyFiles) {
		t.Errorf("reported %v", err)
	}
}

func TestPatience(t *testing.T) {
	loaded := stamp{size: 10000}
	for _, tt := range []struct {
		now  stamp
		h    hints
		want time.Duration
	}{
		{stamp{size: 20000}, hints{}, settleTime},
		{stamp{size: 9000}, hints{}, settleTime},
		{stamp{size: 20000}, hints{midLine: true}, suspectTime},
		{stamp{size: 4000}, hints{}, suspectTime},
		{stamp{size: 5000}, hints{}, settleTime},
		{stamp{size: 0}, hints{}, busyTime},
		{stamp{size: 20000}, hints{writer: true}, busyTime},
	} {
		if got := patience(tt.now, loaded, tt.h); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt, got, tt.want)
		}
	}
	for _, now := range []stamp{{}, {size: 10}} { // programs write so little at once
		if got := patience(now, stamp{}, hints{midLine: true}); got != settleTime {
			t.Errorf("%+v after an empty file: %v", now, got)
		}
	}
	if got := patience(stamp{size: 10}, stamp{size: 100}, hints{midLine: true}); got != settleTime {
		t.Errorf("a small file: %v", got)
	}
}
