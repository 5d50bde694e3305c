package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/miekg/dns"
)

// patience bounds how long a server may take until it gives its first answer.
const patience = 20 * time.Second

// server is a running contender.
type server struct {
	cmd   *exec.Cmd
	addr  string
	dir   string
	ended chan struct{} // closed when the process has ended
}

// start runs c with the settings of r on a core of its own.
func (c contender) start(r row, targets []string, verbose bool) (*server, error) {
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.LocalAddr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	dir, path, err := writeCorefile(corefile(port, targets, r.settings, c.settings))
	if err != nil {
		return nil, err
	}
	// taskset replaces itself by the program, so that the process is the program's.
	s := &server{
		cmd:   exec.Command("taskset", "-c", serverCore, c.binary, "-conf", path, "-quiet"),
		addr:  addr,
		dir:   dir,
		ended: make(chan struct{}),
	}
	if verbose {
		s.cmd.Stdout, s.cmd.Stderr = os.Stderr, os.Stderr
	}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		_ = s.cmd.Wait() // stopped, or whoever waits for an answer says that it ended
		close(s.ended)
	}()
	return s, nil
}

// wait asks until there is a right answer.
func (s *server) wait() error {
	m := new(dns.Msg).SetQuestion("ready.failover.test.", dns.TypeA)
	c := &dns.Client{Timeout: time.Second}
	var last error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		r, _, err := c.Exchange(m, s.addr)
		if err == nil && len(r.Answer) == 1 {
			return nil
		}
		if last = err; err == nil {
			last = errors.New("answered " + dns.RcodeToString[r.Rcode])
		}
		select {
		case <-s.ended:
			return errors.New("the server ended")
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("no right answer after %v: %w", patience, last)
}

// stop asks the server to end and insists after a while.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt) // it may have ended by itself
	select {
	case <-s.ended:
	case <-time.After(5 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	_ = os.RemoveAll(s.dir) // what is left there is in a directory for such things
}
