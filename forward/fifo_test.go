//go:build unix

package forward

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Reading a pipe waits until somebody writes to it: the server did not start, and said nothing.
func TestAPipeIsNoUpstreamFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := parseText("forward . " + pipe)
	if err == nil || !strings.Contains(err.Error(), pipe+" is not a regular file") {
		t.Errorf("got %v", err)
	}
}
