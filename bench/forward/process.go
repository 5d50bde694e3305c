package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// patience bounds how long a server may take until it gives its first answer.
const patience = 20 * time.Second

// process is a program on one core.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

func startProcess(core, binary string, args ...string) (*process, error) {
	// taskset replaces itself by the program, so that the process is the program's.
	p := &process{
		cmd:   exec.Command("taskset", append([]string{"-c", core, binary}, args...)...),
		ended: make(chan struct{}),
	}
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // stopped, or whoever waits for an answer says that it ended
		close(p.ended)
	}()
	return p, nil
}

// stop asks the process to end, so that it takes those that it started along, and insists after a while.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended by itself
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// tick is the unit of CPU time in /proc (USER_HZ, which is 100 on every Linux).
const tick = 10 * time.Millisecond

// cpu returns the CPU time of the process so far, all threads, user and system.
func (p *process) cpu() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	if err != nil {
		return 0, err
	}
	return parseCPU(string(stat))
}

// parseCPU reads utime and stime, fields 14 and 15. The second field is a name in parentheses that may contain blanks.
func parseCPU(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, errors.New("no CPU time in " + stat)
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, err
}

// waitFor asks until there is a right answer.
func waitFor(p *process, addr string) error {
	m := new(dns.Msg).SetQuestion(name(1), dns.TypeA)
	c := &dns.Client{Timeout: time.Second}
	var last error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		r, _, err := c.Exchange(m, addr)
		if err == nil && len(r.Answer) == 1 {
			return nil
		}
		last = err
		if err == nil {
			last = errors.New("answered " + dns.RcodeToString[r.Rcode])
		}
		select {
		case <-p.ended:
			return errors.New("the process ended")
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("no right answer after %v: %w", patience, last)
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
