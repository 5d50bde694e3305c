// Package proctest runs built programs in tests: it builds a package of this module once, starts it, and collects what
// it prints. For tests that must see a whole process: signals, exit codes, command lines.
package proctest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Wait bounds everything that a test waits for: a line in the log, the end of a process.
const Wait = 30 * time.Second

// Build compiles a package of this module, given by its import path or relative to the test's directory, into a
// directory of the test and returns the path of the binary.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), pkg).CombinedOutput()
	if err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("building %s left %d files (%v), want one", pkg, len(files), err)
	}
	return filepath.Join(dir, files[0].Name())
}

// Process is a running program.
type Process struct {
	cmd   *exec.Cmd
	out   buffer
	ended chan struct{} // closed when the process has ended
	err   error         // of Wait; valid after ended
}

// Start runs the program in dir ("" for the test's own) until the test ends. What it prints is shown when the test has
// failed.
func Start(t testing.TB, dir, bin string, args ...string) *Process {
	t.Helper()
	p := &Process{cmd: exec.Command(bin, args...), ended: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended already
		<-p.ended
		if t.Failed() {
			t.Logf("%s printed:\n%s", filepath.Base(bin), p.Output())
		}
	})
	return p
}

// Output is what the program has printed so far, standard output and error together.
func (p *Process) Output() string { return p.out.String() }

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends sig.
func (p *Process) Signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatalf("sending %v: %v", sig, err)
	}
}

// WaitFor waits until the program has printed text at least n times.
func (p *Process) WaitFor(t testing.TB, text string, n int) {
	t.Helper()
	for deadline := time.Now().Add(Wait); strings.Count(p.Output(), text) < n; {
		if time.Now().After(deadline) {
			t.Fatalf("%q was not printed %d times within %v", text, n, Wait)
		}
		select {
		case <-p.ended:
			if strings.Count(p.Output(), text) < n {
				t.Fatalf("the process ended (%v) before it printed %q %d times", p.err, text, n)
			}
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Exit waits for the end of the process and returns its exit code.
func (p *Process) Exit(t testing.TB) int {
	t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(Wait):
		t.Fatalf("the process did not end within %v", Wait)
		return -1
	}
}

// Run runs the program to its end and returns what it printed and its exit code.
func Run(t testing.TB, dir, bin string, args ...string) (output string, code int) {
	t.Helper()
	p := Start(t, dir, bin, args...)
	code = p.Exit(t)
	return p.Output(), code
}

// WriteFile writes text to a file below the test's directory and returns its path.
func WriteFile(t testing.TB, dir, name, format string, args ...any) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// buffer collects output that another goroutine reads.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
