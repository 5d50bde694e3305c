package kubernetes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a program that can be killed and started again with the same arguments.
type process struct {
	bin     string
	args    []string
	env     []string
	attr    *syscall.SysProcAttr
	cmd     *exec.Cmd
	ended   chan struct{}
	mu      sync.Mutex // guards log
	log     bytes.Buffer
	started int
}

// program is one of those that TestMain has built.
func program(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := &process{bin: filepath.Join(os.Getenv(binaries), name), args: args, attr: &syscall.SysProcAttr{}}
	p.owned(t)
	return p
}

// owned has the process end with the test, and shows its last lines when that failed.
func (p *process) owned(t *testing.T) {
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			text := p.log.Bytes()
			t.Logf("the end of what %s printed:\n%s", filepath.Base(p.bin), text[max(0, len(text)-6000):])
		}
	})
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *process) start(t *testing.T) {
	t.Helper()
	p.cmd = exec.Command(p.bin, p.args...)
	p.cmd.Args[0] = filepath.Base(p.bin)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = p.env, p, p, p.attr
	if p.attr.Chroot != "" {
		p.cmd.Dir = "/"
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", p.bin, err)
	}
	cmd, ended := p.cmd, make(chan struct{})
	p.ended = ended
	p.started++
	go func() {
		_ = cmd.Wait() // killed, as a rule
		close(ended)
	}()
}

// kill ends the process at once, as a machine does that fails, and waits for it.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	p.cmd = nil
}

// eventually polls until f returns nil, and fails the test with its last error.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}
