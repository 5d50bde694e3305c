package main

import (
	"errors"
	"os"
	"time"

	"github.com/trident-dns/trident/bench/internal/rig"

	"github.com/miekg/dns"
)

// patience bounds how long a server may take until it gives its first answer.
const patience = 20 * time.Second

// server is a running contender.
type server struct {
	*rig.Process
	addr, dir string
}

// start runs c with the settings of r on a core of its own.
func (c contender) start(r row, targets []string) (*server, error) {
	addr, port, err := rig.FreePort()
	if err != nil {
		return nil, err
	}
	dir, path, err := writeCorefile(corefile(port, targets, r.settings, c.settings))
	if err != nil {
		return nil, err
	}
	p, err := rig.Start(rig.ServerCore, c.binary, "-conf", path, "-quiet")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &server{Process: p, addr: addr, dir: dir}, nil
}

// wait asks until there is a right answer.
func (s *server) wait() error {
	_, err := s.WaitFor(s.addr, rig.Probe{Name: "ready.failover.test.", Type: dns.TypeA}, patience)
	return err
}

// stop ends the server and takes its directory away.
func (s *server) stop() {
	s.Stop()
	_ = os.RemoveAll(s.dir) // what is left there is in a directory for such things
}
