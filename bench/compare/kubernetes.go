package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/records"
	"github.com/trident-dns/trident/bench/internal/rig"
)

const (
	// cacheEntries is the default of CoreDNS's cache plugin, for successes.
	cacheEntries = 9984
	// clusterQuestions is how many questions the file of the row has.
	clusterQuestions = 200_000
	// popularity is the exponent of Zipf's law by which names are asked.
	popularity = 1.1
)

// kubernetes has servers do what the DNS of a cluster does for names outside of it: most questions are for few names and
// answered from the cache, and addresses of both families are asked for.
func kubernetes(s *stage) (*contest.Result, error) {
	upstreams, err := s.upstreams()
	if err != nil {
		return nil, err
	}
	questions, err := s.file("questions", popularQuestions(rand.New(rand.NewPCG(1, 2)), clusterQuestions))
	if err != nil {
		return nil, err
	}
	t := newTask(upstreams, false)
	t.cache = true
	_, metrics, err := rig.FreePort()
	if err != nil {
		return nil, err
	}
	lines := fmt.Sprintf("errors\nprometheus 127.0.0.1:%s\ncache 30\nloadbalance\n%s", metrics, t.coreDNS())
	result := s.contest.Run(contest.Row{
		Name: "kubernetes", Title: "errors, prometheus, cache, loadbalance, forward", Questions: questions, Probe: records.Probe(),
		Contenders: append(s.binaries.CoreDNS(lines), t.dnsdist(), t.unbound(), t.dnsmasq()),
	})
	return &result, nil
}

// popularQuestions are n questions in the format of dnsperf.
func popularQuestions(r *rand.Rand, n int) string {
	zipf := rand.NewZipf(r, popularity, 1, upstreamNames-1)
	var b strings.Builder
	for range n / 2 {
		i := int(zipf.Uint64())
		fmt.Fprintf(&b, "%[1]s A\n%[1]s AAAA\n", records.Name(i))
	}
	return b.String()
}
