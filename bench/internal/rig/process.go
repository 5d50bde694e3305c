// Package rig is what the benchmarks are put together from: programs that are pinned to a core and whose CPU time and
// memory are read from /proc, name servers and an etcd as upstreams, and load from dnsperf.
//
// Everything stays on the loopback interface. The package reads /proc and needs taskset, so it runs on Linux.
package rig

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/trident-dns/trident/internal/freeport"
)

// The cores that the parts are pinned to: the server under test has one for itself.
const (
	ServerCore = "0"
	OtherCore  = "1"
)

// Process is a program on one core, with the processes that it starts.
type Process struct {
	cmd   *exec.Cmd
	start time.Time
	ended chan struct{} // closed when it has ended
}

// Start starts a program whose errors are shown. Whoever starts it stops it.
func Start(core, binary string, args ...string) (*Process, error) {
	return start(nil, core, binary, args...)
}

// start is Start for a program that prints to stdout, if that is not nil.
func start(stdout *os.File, core, binary string, args ...string) (*Process, error) {
	p := &Process{cmd: command(core, binary, args...), start: time.Now(), ended: make(chan struct{})}
	p.cmd.Stderr = os.Stderr
	if stdout != nil {
		p.cmd.Stdout = stdout
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // stopped, or whoever waits for an answer says that it ended
		close(p.ended)
	}()
	return p, nil
}

// Stop asks the process to end, so that it takes those that it started along, and insists after a while.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended by itself
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// Age is the time since the process was started.
func (p *Process) Age() time.Duration { return time.Since(p.start) }

// Pin puts all threads of this process on a core.
func Pin(core string) error {
	if out, err := exec.Command("taskset", "-a", "-p", "-c", core, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		return fmt.Errorf("taskset: %w: %s", err, out)
	}
	return nil
}

// Need tells which of the programs is not installed, if any is not.
func Need(programs ...string) error {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: it is in the Debian package of that name, or in util-linux", err)
		}
	}
	return nil
}

// FreePort returns an address on loopback that nobody listens on, neither with UDP nor with TCP.
func FreePort() (addr, port string, err error) {
	port, err = freeport.Find()
	return "127.0.0.1:" + port, port, err
}
