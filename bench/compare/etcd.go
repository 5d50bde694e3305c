package main

import (
	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/etcdproc"

	"github.com/miekg/dns"
)

// etcdRecords is how many records etcd has.
const etcdRecords = 100_000

// etcd has servers answer from records in an etcd. No peer reads those.
func etcd(s *stage) (*contest.Result, error) {
	server, _, err := etcdproc.Serve(s.contest.Dir, etcdRecords)
	if err != nil {
		return nil, err
	}
	s.started = append(s.started, server.Process)
	row, err := server.Row(s.contest.Dir, etcdRecords, dns.TypeA, s.binaries.CoreDNS(server.Directive()))
	if err != nil {
		return nil, err
	}
	row.Name = "etcd"
	result := s.contest.Run(row)
	return &result, nil
}
