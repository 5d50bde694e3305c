// Command compare puts servers beside stock CoreDNS in one run: ours, ours with fastudp, and of dnsdist, Unbound, dnsmasq
// and NSD those that are installed and fit the row.
//
//	go run ./bench/compare -stock path/to/coredns -ours path/to/trident
//
// The server has core 0 for itself; upstreams, the load generator (dnsperf) and this program share core 1. In each round
// every contender of a row runs once, in turns, after a second to warm up: at the peak, with 200 questions in flight, and
// then for half as long at seven tenths of the rate that it just had, whether or not answers come. Printed are, as medians
// of the rounds:
//
//   - answers a second at the peak, and their ratio to stock;
//   - the CPU time that the server and the processes that it started spent a question there;
//   - the middle and the 99th percentile of latency at seven tenths, and the part of the questions that got no answer
//     within a second.
//
// A rate with a star was not limited by the server, whose core had time left. The result goes to a file as JSON as well.
//
// With -profile DIR nothing is compared: every CoreDNS runs once a row, and its CPU time and what it allocates under peak
// load go to files in DIR, in slices that go tool pprof adds up:
//
//	go tool pprof -top coredns 'DIR/forward-udp-Trident-cpu-'*.pb.gz
//
// It needs dnsperf, nsd, openssl and taskset, and reads /proc, so it runs on Linux. Only the loopback interface is used.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/etcdproc"
	"github.com/trident-dns/trident/bench/internal/rig"
)

func main() {
	etcdproc.Main()
	var binaries contest.Binaries
	var c contest.Contest
	flag.StringVar(&binaries.Stock, "stock", "", "CoreDNS with the in-tree plugins")
	flag.StringVar(&binaries.Ours, "ours", "", "this project's CoreDNS")
	flag.IntVar(&c.Rounds, "rounds", 3, "how often each contender runs in each row")
	flag.DurationVar(&c.Duration, "duration", 5*time.Second, "how long a run at the peak takes, in whole seconds from 2 on")
	flag.IntVar(&c.Outstanding, "outstanding", 200, "questions in flight at the peak")
	flag.StringVar(&c.Profiles, "profile", "", "directory for profiles; nothing else is measured then")
	var (
		only = flag.String("only", strings.Join(names(defaults()), ","), "which rows to run, of "+strings.Join(names(rows), ", "))
		out  = flag.String("out", "", "file for the result as JSON, none if empty")
	)
	flag.Parse()
	log.SetFlags(0)
	chosen, err := choose(*only)
	if binaries.Stock == "" || binaries.Ours == "" || c.Rounds < 1 || c.Duration < 2*time.Second || c.Outstanding < 1 || err != nil {
		if err != nil {
			log.Print(err)
		}
		flag.Usage()
		os.Exit(2)
	}
	if err := run(c, binaries, chosen, *out); err != nil {
		log.Fatal(err)
	}
}

func run(c contest.Contest, binaries contest.Binaries, chosen []row, out string) error {
	if err := rig.Need("dnsperf", "nsd", "openssl", "taskset"); err != nil {
		return err
	}
	// This process opens connections in the cold row and reads what dnsperf prints.
	if err := rig.Pin(rig.OtherCore); err != nil {
		return err
	}
	var err error
	if c.Dir, err = os.MkdirTemp("", "bench-compare"); err != nil {
		return err
	}
	defer os.RemoveAll(c.Dir)
	s := &stage{contest: c, binaries: binaries}
	report := contest.NewReport(c)
	var failed []string
	for _, r := range chosen {
		result, err := r.run(s)
		s.clear()
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if c.Profiles != "" || result == nil {
			continue
		}
		result.Finish()
		fmt.Printf("\n%s\n", result.Markdown())
		failed = append(failed, result.Failed()...)
		report.Results = append(report.Results, *result)
	}
	if out != "" && c.Profiles == "" {
		if err := report.Write(out); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, "; "))
	}
	return nil
}

// row is a part of the comparison.
type row struct {
	name string
	rare bool // only when it is asked for
	run  func(*stage) (*contest.Result, error)
}

var rows = []row{
	{name: "hosts", run: hosts},
	{name: "etcd", run: etcd},
	{name: "forward-udp", run: forwardUDP},
	{name: "forward-dot", run: forwardDoT},
	{name: "kubernetes", run: kubernetes},
	{name: "cold", rare: true, run: cold},
}

func defaults() []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.rare })
}

func names(rows []row) (all []string) {
	for _, r := range rows {
		all = append(all, r.name)
	}
	return all
}

// choose returns the rows that a comma-separated list names.
func choose(list string) (chosen []row, err error) {
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no row %q: there are %s", name, strings.Join(names(rows), ", "))
		}
		chosen = append(chosen, rows[i])
	}
	return chosen, nil
}
