package source

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

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
