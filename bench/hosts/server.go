package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/rig"

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
type server struct{ *contest.Server }

// start runs binary with the hosts plugin on file.
func start(binary, dir, file string) (server, error) {
	lines := fmt.Sprintf("hosts %s {\n%s %s\nreload 1s\n}", file, probeAddr, strings.TrimSuffix(probeName, "."))
	s, err := contest.Contender{Command: binary, Config: contest.Corefile(lines)}.Start(dir, false)
	return server{s}, err
}

// waitFor asks for name until the answer is addr, and returns how long after its start the server gave it.
func (s server) waitFor(name, addr string) (time.Duration, error) {
	return s.WaitFor(s.Addr, rig.Probe{Name: name, Type: dns.TypeA, Right: func(r *dns.Msg) bool {
		return len(r.Answer) == 1 && strings.HasSuffix(r.Answer[0].String(), "\t"+addr)
	}}, patience)
}
