// Command forward compares how CoreDNS with the in-tree forward plugin, CoreDNS with ours, and dnsdist (when it is
// installed) pass questions on to two NSD upstreams.
//
//	go run ./bench/forward -stock path/to/coredns -ours path/to/trident
//
// The server has core 0 for itself; upstreams, load generator and this program share core 1. Per row and round each
// contender runs once, in turns, so that whatever else the machine does meets all of them. Printed are the medians of the
// rate, of the CPU time that the server spent a question, and of the 99th percentile of latency under that load, each
// with its ratio to stock. The rows:
//
//	udp   clients and upstreams over UDP
//	dot   clients over UDP, upstreams over TLS
//	cold  1,000 questions at once to a server that has no connection to its only upstream, over TLS: how many
//	      connections it opens, how many answers come and how long they take
//
// It needs dnsperf, nsd, openssl and taskset, and reads /proc, so it runs on Linux. Only the loopback interface is used.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The cores that the parts are pinned to.
const (
	serverCore = "0"
	otherCore  = "1"
)

func main() {
	var (
		stock    = flag.String("stock", "", "binary with the in-tree forward plugin")
		ours     = flag.String("ours", "", "binary with this project's forward plugin")
		rounds   = flag.Int("rounds", 5, "how often each contender runs in each row")
		duration = flag.Duration("duration", 10*time.Second, "how long a run takes")
		rows     = flag.String("rows", "udp,dot,cold", "which rows to run")
		outstand = flag.Int("outstanding", 200, "questions in flight")
	)
	flag.Parse()
	log.SetFlags(0)
	if *stock == "" || *ours == "" || *rounds < 1 || *duration < time.Second || *outstand < 1 {
		flag.Usage()
		os.Exit(2)
	}
	b := &bench{rounds: *rounds, duration: *duration, outstanding: *outstand}
	if err := b.run(*stock, *ours, strings.Split(*rows, ",")); err != nil {
		log.Fatal(err)
	}
}

type bench struct {
	rounds      int
	duration    time.Duration
	outstanding int

	dir       string
	questions string // file for dnsperf
	upstreams []*nsd
}

func (b *bench) run(stock, ours string, rows []string) error {
	for _, tool := range []string{"dnsperf", "nsd", "openssl", "taskset"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%w: it is in the Debian package of that name or in util-linux", err)
		}
	}
	// All threads of this process, which send questions in the cold row and measure latency in the others.
	if out, err := exec.Command("taskset", "-a", "-p", "-c", otherCore, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		return fmt.Errorf("taskset: %w: %s", err, out)
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "bench-forward"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.questions, err = writeQuestions(b.dir); err != nil {
		return err
	}
	for range 2 {
		n, err := startNSD(b.dir, len(b.upstreams))
		if err != nil {
			return err
		}
		defer n.stop()
		b.upstreams = append(b.upstreams, n)
	}
	contenders := contenders(stock, ours)
	if i := slices.Index(rows, "cold"); i >= 0 {
		rows = slices.Delete(slices.Clone(rows), i, i+1)
		defer func() {
			if err := b.cold(contenders); err != nil {
				log.Print(err)
			}
		}()
	}
	for _, row := range rows {
		if err := b.row(row, contenders); err != nil {
			return err
		}
	}
	return nil
}

// row measures all contenders under load.
func (b *bench) row(row string, contenders []contender) error {
	samples := make([][]sample, len(contenders))
	for round := range b.rounds {
		for i, c := range contenders {
			s, err := b.measure(row, c)
			if err != nil {
				return fmt.Errorf("%s, round %d, %s: %w", row, round+1, c.name, err)
			}
			fmt.Printf("%s round %d %-14s %s\n", row, round+1, c.name, s)
			samples[i] = append(samples[i], s)
		}
	}
	fmt.Printf("\n%s\n", table(row, contenders, samples))
	return nil
}

// measure runs one contender under load.
func (b *bench) measure(row string, c contender) (sample, error) {
	var targets []string
	for _, u := range b.upstreams {
		if row == "dot" {
			targets = append(targets, u.tlsAddr)
		} else {
			targets = append(targets, u.addr)
		}
	}
	s, err := c.start(b.dir, setup{targets: targets, ca: b.upstreams[0].certFile, tls: row == "dot"})
	if err != nil {
		return sample{}, err
	}
	defer s.stop()
	if err := s.wait(); err != nil {
		return sample{}, err
	}
	// A short run first: connections are made, heaps have grown.
	if _, err := runLoad(s.addr, b.questions, time.Second, b.outstanding); err != nil {
		return sample{}, err
	}
	before, err := s.cpu()
	if err != nil {
		return sample{}, err
	}
	probe := startProbe(s.addr)
	l, err := runLoad(s.addr, b.questions, b.duration, b.outstanding)
	p99, probed := probe.stop()
	if err != nil {
		return sample{}, err
	}
	after, err := s.cpu()
	if err != nil {
		return sample{}, err
	}
	return sample{
		rate: l.rate,
		cpu:  (after - before) / time.Duration(l.completed+probed),
		p99:  p99,
		lost: l.lost,
	}, nil
}
