package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/rig"

	"github.com/miekg/dns"
)

// stage is what the rows share.
type stage struct {
	contest  contest.Contest
	binaries contest.Binaries

	started []*rig.Process // what a row has started beside its contenders
	dirs    int            // of upstreams so far
}

// clear ends what a row has started.
func (s *stage) clear() {
	for _, p := range s.started {
		p.Stop()
	}
	s.started = nil
}

const (
	zoneName = "bench.example."
	// upstreamNames is how many an upstream knows.
	upstreamNames = 20_000
)

func name(i int) string { return fmt.Sprintf("n%d.%s", i, zoneName) }

func address(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255) }

// probe is a question that whoever knows the names answers.
func probe() rig.Probe { return rig.Probe{Name: name(1), Type: dns.TypeA} }

// zone has the names up to n, as NSD reads it.
func zone(n int) rig.Zone {
	var b strings.Builder
	fmt.Fprintf(&b, "$ORIGIN %[1]s\n$TTL 300\n@ SOA ns.%[1]s mbox.%[1]s 1 3600 600 86400 300\n@ NS ns.%[1]s\nns A 127.0.0.1\n", zoneName)
	for i := range n {
		fmt.Fprintf(&b, "n%d A %s\n", i, address(i))
	}
	return rig.Zone{Name: zoneName, Text: b.String(), Probe: probe()}
}

// upstreams starts two NSDs.
func (s *stage) upstreams() (all []*rig.NSD, err error) {
	for range 2 {
		s.dirs++
		n, err := rig.StartNSD(filepath.Join(s.contest.Dir, fmt.Sprintf("nsd%d", s.dirs)), zone(upstreamNames))
		if err != nil {
			return nil, err
		}
		s.started = append(s.started, n.Process)
		all = append(all, n)
	}
	return all, nil
}

// questions writes a file for dnsperf: each of the names up to n once, in random order.
func (s *stage) questions(n int) (string, error) {
	var b strings.Builder
	for _, i := range rand.Perm(n) {
		fmt.Fprintf(&b, "%s A\n", name(i))
	}
	return s.file("questions", b.String())
}

func (s *stage) file(name, text string) (string, error) {
	path := filepath.Join(s.contest.Dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}
