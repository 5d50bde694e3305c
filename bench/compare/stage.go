package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/records"
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

// upstreamNames is how many an upstream knows.
const upstreamNames = 20_000

// upstreams starts two NSDs.
func (s *stage) upstreams() (all []*rig.NSD, err error) {
	for range 2 {
		s.dirs++
		n, err := rig.StartNSD(filepath.Join(s.contest.Dir, fmt.Sprintf("nsd%d", s.dirs)), records.ZoneFile(upstreamNames))
		if err != nil {
			return nil, err
		}
		s.started = append(s.started, n.Process)
		all = append(all, n)
	}
	return all, nil
}

// questions writes a file for dnsperf with the names up to n.
func (s *stage) questions(n int) (string, error) {
	path := filepath.Join(s.contest.Dir, "questions")
	return path, records.WriteQuestions(path, n, dns.TypeA)
}

func (s *stage) file(name, text string) (string, error) {
	path := filepath.Join(s.contest.Dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}
