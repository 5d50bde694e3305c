package source

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Opening a pipe that nobody writes to, or reading a device, would never end.
func TestWhatIsNoFileIsNotOpened(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		_, r := follow(t, FilesConfig{Pattern: path, Reload: slow})
		r.mu.Lock()
		if err := r.last[filepath.Base(path)]; !errors.Is(err, errNotAFile) {
			t.Errorf("%s: %v", path, err)
		}
		r.mu.Unlock()
	}
	if f, _ := follow(t, FilesConfig{Pattern: "/dev/null", Reload: slow}); !f.Ready() || len(f.Parts()) != 1 {
		t.Error("/dev/null is not an empty file")
	}
}
