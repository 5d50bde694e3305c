package etcdproc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/records"
	"github.com/trident-dns/trident/bench/internal/rig"

	"github.com/miekg/dns"
)

// Serve starts an etcd with the first n records on the core of upstreams and returns it and how many bytes the records
// have.
func Serve(dir string, n int) (*Server, int64, error) {
	data, err := os.MkdirTemp(dir, "etcd")
	if err != nil {
		return nil, 0, err
	}
	s, err := Start(rig.OtherCore, data)
	if err != nil {
		return nil, 0, err
	}
	client, err := Client(s.Endpoint)
	if err != nil {
		s.Stop()
		return nil, 0, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	bytes, err := Seed(ctx, client, n)
	if err != nil {
		s.Stop()
		return nil, 0, err
	}
	return s, bytes, nil
}

// Directive is the etcd directive for the records of s.
func (s *Server) Directive() string {
	return fmt.Sprintf("etcd %s {\nendpoint %s\n}", records.Zone, s.Endpoint)
}

// Row has servers answer from the n records of s. dir takes the questions.
func (s *Server) Row(dir string, n int, qtype uint16, contenders []contest.Contender) (contest.Row, error) {
	kind := dns.TypeToString[qtype]
	questions := filepath.Join(dir, "questions-"+kind)
	return contest.Row{
		Name:       "etcd-" + kind,
		Title:      fmt.Sprintf("etcd, %s records, %s", contest.Thousands(float64(n)), kind),
		Questions:  questions,
		Probe:      records.Probe(),
		Contenders: contenders,
		Work:       func() (float64, error) { return s.Metric(Ranges) },
		WorkTitle:  "reads of etcd a question",
	}, records.WriteQuestions(questions, n, qtype)
}
