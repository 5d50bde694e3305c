// Command etcd shows what answers from etcd cost: stock CoreDNS beside ours, over the records of one etcd that runs in a
// process of its own.
//
//	go run ./bench/etcd -stock path/to/coredns -ours path/to/trident
//
// The server has core 0 for itself; etcd, the load generator and this program share core 1. The parts, of which -only
// takes a comma-separated list:
//
//   - rate: questions for A and SRV over 100,000 records, and the hosts plugin with the same names beside them; the columns
//     are those of bench/compare, with the reads that etcd served for each question, by its own metrics;
//   - size: what a million records take in memory, and how long until they are there, beside a program that reads them
//     from etcd in pages and keeps nothing;
//   - change: how long until an answer shows a change, while 1,000 records a second are written;
//   - mirrors: what copies of 10,000 records, as so many DNS servers keep them, cost etcd, straight and through etcd's gRPC
//     proxy.
//
// With -profile DIR only the part rate runs, and profiles of every CoreDNS go to files in DIR.
//
// It needs dnsperf and taskset, and reads /proc, so it runs on Linux. Only the loopback interface is used.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/etcdproc"
	"github.com/trident-dns/trident/bench/internal/rig"
)

// bench is a run.
type bench struct {
	contest  contest.Contest
	binaries contest.Binaries
	mirrors  []int // how many at a time
}

// part is one of the things that are shown.
type part struct {
	name string
	run  func(*bench) error
}

var parts = []part{
	{"rate", (*bench).rate},
	{"size", (*bench).size},
	{"change", (*bench).change},
	{"mirrors", (*bench).mirrorCost},
}

func main() {
	etcdproc.Main()
	var b bench
	flag.StringVar(&b.binaries.Stock, "stock", "", "CoreDNS with the in-tree plugins")
	flag.StringVar(&b.binaries.Ours, "ours", "", "this project's CoreDNS")
	flag.IntVar(&b.contest.Rounds, "rounds", 3, "how often each contender runs in rate and size")
	flag.DurationVar(&b.contest.Duration, "duration", 5*time.Second, "how long a run takes, in whole seconds from 2 on")
	flag.IntVar(&b.contest.Outstanding, "outstanding", 200, "questions in flight at the peak")
	flag.StringVar(&b.contest.Profiles, "profile", "", "directory for profiles; nothing else is measured then")
	var (
		only    = flag.String("only", "rate,size,change,mirrors", "which parts to run")
		mirrors = flag.String("mirrors", "10,50,100", "how many mirrors at a time")
	)
	flag.Parse()
	log.SetFlags(0)
	chosen := strings.Split(*only, ",")
	if b.contest.Profiles != "" {
		chosen = []string{"rate"}
	}
	err := b.check(chosen, *mirrors)
	if err == nil {
		err = b.run(chosen)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// check completes and checks the flags.
func (b *bench) check(chosen []string, mirrors string) error {
	for _, name := range chosen {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("no part %q", name)
		}
	}
	for _, text := range strings.Split(mirrors, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return fmt.Errorf("%q is no number of mirrors from 1 to 1000", text)
		}
		b.mirrors = append(b.mirrors, n)
	}
	c := b.contest
	if b.binaries.Stock == "" || b.binaries.Ours == "" || c.Rounds < 1 || c.Duration < 2*time.Second || c.Outstanding < 1 {
		return fmt.Errorf("-stock and -ours are needed, a round or more, two seconds or more, and a question in flight")
	}
	return rig.Need("dnsperf", "taskset")
}

func (b *bench) run(chosen []string) error {
	if err := rig.Pin(rig.OtherCore); err != nil {
		return err
	}
	var err error
	if b.contest.Dir, err = os.MkdirTemp("", "bench-etcd"); err != nil {
		return err
	}
	defer os.RemoveAll(b.contest.Dir)
	for _, p := range parts {
		if !slices.Contains(chosen, p.name) {
			continue
		}
		if err := p.run(b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
