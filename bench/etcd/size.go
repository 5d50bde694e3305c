package main

import (
	"fmt"
	"log"
	"time"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/etcdproc"
	"github.com/trident-dns/trident/bench/internal/records"
	"github.com/trident-dns/trident/bench/internal/rig"

	"github.com/miekg/dns"
)

const (
	// many is how many records the part size has.
	many = 1_000_000
	// barePage is how many keys a page of the bare read has: the most that the plugin asks for at once.
	barePage = 20_000
	// settle is how long a server is left alone before its memory is read.
	settle = 5 * time.Second
)

// sizeSample is what one round found out. Memory is resident, in bytes.
type sizeSample struct {
	bare         time.Duration // a read of everything that keeps nothing, from the start of its process
	listed       time.Duration // from the start of the server to the first right answer
	idle, loaded float64       // without records, and with all
}

// size shows what a million records cost in memory and time.
func (b *bench) size() error {
	etcd, raw, err := etcdproc.Serve(b.contest.Dir, many)
	if err != nil {
		return err
	}
	defer etcd.Stop()
	// Once unmeasured: etcd has just been written to, and goes on tidying up for a while.
	if _, _, err := etcdproc.BareRead(rig.ServerCore, etcd.Endpoint, barePage); err != nil {
		return err
	}
	var samples []sizeSample
	for round := range b.contest.Rounds {
		s, err := b.sizeRound(etcd)
		if err != nil {
			return err
		}
		log.Printf("size, round %d: bare read %v, first answer after %v, %s idle, %s loaded", round+1,
			s.bare.Round(time.Millisecond), s.listed.Round(time.Millisecond), megabytes(s.idle), megabytes(s.loaded))
		samples = append(samples, s)
	}
	fmt.Printf("\n%s\n", sizeTable(samples, many, float64(raw)))
	return nil
}

func (b *bench) sizeRound(etcd *etcdproc.Server) (s sizeSample, err error) {
	var n int
	if s.bare, n, err = etcdproc.BareRead(rig.ServerCore, etcd.Endpoint, barePage); err != nil {
		return s, err
	}
	if n != many {
		return s, fmt.Errorf("the bare read found %d records", n)
	}
	// The zone of the idle server has no records.
	empty := fmt.Sprintf("etcd empty.example. {\nendpoint %s\n}", etcd.Endpoint)
	if _, s.idle, err = b.load(empty, rig.Probe{Name: "empty.example.", Type: dns.TypeSOA}); err != nil {
		return s, err
	}
	s.listed, s.loaded, err = b.load(etcd.Directive(), rig.Probe{Name: records.Name(many - 1), Type: dns.TypeA})
	return s, err
}

// load starts our server and returns how old it was at the first right answer and how much memory it has then.
func (b *bench) load(directive string, probe rig.Probe) (age time.Duration, memory float64, err error) {
	srv, err := b.binaries.CoreDNS(directive)[1].Start(b.contest.Dir, false)
	if err != nil {
		return 0, 0, err
	}
	defer srv.Stop()
	if age, err = srv.WaitFor(srv.Addr, probe, etcdproc.Patience); err != nil {
		return 0, 0, err
	}
	time.Sleep(settle)
	memory, err = srv.Memory("VmRSS")
	return age, memory, err
}

// sizeTable is the table of all rounds, over n records whose keys and values have raw bytes.
func sizeTable(samples []sizeSample, n int, raw float64) string {
	of := func(f func(sizeSample) float64) float64 { return contest.Median(samples, f) }
	seconds := func(f func(sizeSample) time.Duration) float64 {
		return of(func(s sizeSample) float64 { return f(s).Seconds() })
	}
	bare := seconds(func(s sizeSample) time.Duration { return s.bare })
	listed := seconds(func(s sizeSample) time.Duration { return s.listed })
	perRecord := func(f func(sizeSample) float64) string { return fmt.Sprintf("%.0f bytes", (of(f)-raw)/float64(n)) }
	return contest.Table([][]string{
		{contest.Thousands(float64(n)) + " records", "Trident"},
		{"key and value, each", fmt.Sprintf("%.0f bytes", raw/float64(n))},
		{"memory of the process beyond keys and values, each", perRecord(func(s sizeSample) float64 { return s.loaded })},
		{"the same, less what an idle server has", perRecord(func(s sizeSample) float64 { return s.loaded - s.idle })},
		{fmt.Sprintf("bare read, pages of %s", contest.Thousands(barePage)), fmt.Sprintf("%.2f s", bare)},
		{"from the start of the process to the first right answer", fmt.Sprintf("%.2f s", listed)},
		{"ratio to the bare read", fmt.Sprintf("%.2f", listed/bare)},
	})
}
