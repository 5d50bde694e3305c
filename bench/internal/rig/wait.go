package rig

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"
)

// ErrEnded says that a process ended while somebody waited for it.
var ErrEnded = errors.New("the process ended")

// Probe is a question and what a right answer to it is.
type Probe struct {
	Name  string
	Type  uint16
	Right func(*dns.Msg) bool // nil: one answer record or more
}

func (p Probe) right(r *dns.Msg) bool {
	if p.Right != nil {
		return p.Right(r)
	}
	return len(r.Answer) > 0
}

// WaitFor asks the server at addr until the answer is right, for as long as patience, and returns the age of its process
// then.
func (p *Process) WaitFor(addr string, probe Probe, patience time.Duration) (time.Duration, error) {
	m := new(dns.Msg).SetQuestion(probe.Name, probe.Type)
	c := &dns.Client{Timeout: time.Second}
	var last error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		r, _, err := c.Exchange(m, addr)
		if err == nil && probe.right(r) {
			return p.Age(), nil
		}
		last = err
		if err == nil {
			last = fmt.Errorf("answered %s with %d records", dns.RcodeToString[r.Rcode], len(r.Answer))
		}
		if err := p.pause(2 * time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("no right answer after %v: %w", patience, last)
}

// WaitForTCP waits until something accepts connections at addr.
func (p *Process) WaitForTCP(addr string, patience time.Duration) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			return conn.Close()
		}
		if err := p.pause(10 * time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("does not accept connections after %v", patience)
}

func (p *Process) pause(d time.Duration) error {
	select {
	case <-p.ended:
		return ErrEnded
	case <-time.After(d):
		return nil
	}
}
