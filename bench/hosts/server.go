package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// The name by which an idle server is found to be up.
const (
	probeName = "probe.bench.example."
	probeAddr = "192.0.2.1"
)

// patience bounds how long a server may take to give a right answer.
const patience = 2 * time.Minute

// server is a running CoreDNS.
type server struct {
	cmd   *exec.Cmd
	addr  string
	start time.Time
	ended chan struct{} // closed when the process has ended
}

// start runs binary with the hosts plugin on file.
func start(binary, dir, file string) (*server, error) {
	addr, port, err := freePort()
	if err != nil {
		return nil, err
	}
	corefile := filepath.Join(dir, "Corefile")
	text := fmt.Sprintf(".:%s {\n bind 127.0.0.1\n hosts %s {\n  %s %s\n  reload 1s\n }\n}\n",
		port, file, probeAddr, strings.TrimSuffix(probeName, "."))
	if err := os.WriteFile(corefile, []byte(text), 0o600); err != nil {
		return nil, err
	}
	s := &server{
		cmd:  exec.Command(binary, "-conf", corefile, "-quiet"),
		addr: addr, start: time.Now(), ended: make(chan struct{}),
	}
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait() // killed, or waitFor says that it ended
		close(s.ended)
	}()
	return s, nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill() // it may have ended by itself
	<-s.ended
}

// waitFor asks for name until the answer is addr, and returns how long after its start the server gave it.
func (s *server) waitFor(name, addr string) (time.Duration, error) {
	m := new(dns.Msg)
	m.SetQuestion(name, dns.TypeA)
	c := &dns.Client{Timeout: time.Second}
	for time.Since(s.start) < patience {
		r, _, err := c.Exchange(m, s.addr)
		if err == nil && len(r.Answer) == 1 && strings.HasSuffix(r.Answer[0].String(), "\t"+addr) {
			return time.Since(s.start), nil
		}
		select {
		case <-s.ended:
			return 0, errors.New("the server ended")
		case <-time.After(2 * time.Millisecond):
		}
	}
	return 0, fmt.Errorf("no right answer for %s after %v", name, patience)
}

// memory returns a figure of /proc/PID/status, in bytes.
func (s *server) memory(field string) (float64, error) {
	f, err := os.Open(s.proc("status"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), field+":")
		if !ok {
			continue
		}
		kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(rest, "kB")))
		return float64(kb) * 1024, err
	}
	return 0, errors.New("no " + field + " in /proc")
}

// resetPeak makes VmHWM start again from what is resident now.
func (s *server) resetPeak() error { return os.WriteFile(s.proc("clear_refs"), []byte("5"), 0) }

func (s *server) proc(file string) string {
	return filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), file)
}

// freePort returns an address on loopback that nobody listens on, neither with UDP nor with TCP.
func freePort() (addr, port string, err error) {
	for range 10 {
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return "", "", err
		}
		addr = l.Addr().String()
		var c net.PacketConn
		c, err = net.ListenPacket("udp", addr)
		_ = l.Close() // it has served its purpose
		if err != nil {
			continue
		}
		_ = c.Close()
		_, port, err = net.SplitHostPort(addr)
		return addr, port, err
	}
	return "", "", err
}
