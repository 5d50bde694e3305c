// Command failover shows what clients see while upstreams fail: CoreDNS with the in-tree forward plugin beside CoreDNS
// with ours, 1,000 questions a second, two scripted upstreams on loopback.
//
//	go run ./bench/failover -stock path/to/coredns -ours path/to/trident
//
// Each row is a fault that begins after the first seconds of its run; docs/failover.md says what each stands for. Questions
// are sent at their time whatever happened to those before (open loop), each for a name of its own, so that neither a
// cache nor sharing can hide anything. Printed are, for every second in which questions were sent, the percentiles of their
// latency, SERVFAILs, questions without an answer, and how many queries reached the upstreams for each question; then what
// was found of the targets.
//
// The server has core 0 for itself; upstreams, generator and this program share core 1. It needs taskset, and so runs on
// Linux.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/trident-dns/trident/bench/internal/rig"
)

func main() {
	var (
		stock = flag.String("stock", "", "binary with the in-tree forward plugin")
		ours  = flag.String("ours", "", "binary with this project's forward plugin")
		only  = flag.String("only", "", "comma-separated rows to run, all if empty: "+strings.Join(rowNames(), ", "))
		who   = flag.String("server", "", "comma-separated servers to run, all if empty: stock, ours, least_latency")
		rate  = flag.Int("rate", 1000, "questions a second")
	)
	var servers []contender
	flag.Parse()
	log.SetFlags(0)
	if *rate < 1 || *rate > 20_000 {
		flag.Usage()
		os.Exit(2)
	}
	chosen, err := chooseRows(*only)
	if err == nil {
		servers, err = contenders(*stock, *ours, *who)
	}
	if err != nil {
		log.Print(err)
		os.Exit(2)
	}
	// All threads of this process, which are upstreams and generator.
	if err := rig.Pin(rig.OtherCore); err != nil {
		log.Fatal(err)
	}
	b := bench{rate: *rate}
	missed, err := b.run(chosen, servers)
	if err != nil {
		log.Fatal(err)
	}
	if missed > 0 {
		fmt.Printf("\n%d targets missed\n", missed)
		os.Exit(1)
	}
}

func chooseRows(only string) ([]row, error) {
	if only == "" {
		return rows, nil
	}
	var chosen []row
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no row %q: there are %s", name, strings.Join(rowNames(), ", "))
		}
		chosen = append(chosen, rows[i])
	}
	return chosen, nil
}

type bench struct{ rate int }

// run returns how many targets ours has missed.
func (b bench) run(chosen []row, servers []contender) (missed int, err error) {
	var verdicts []verdict
	for _, r := range chosen {
		for _, c := range servers {
			if !r.takes(c) {
				continue
			}
			seconds, err := b.measure(r, c)
			if err != nil {
				return 0, fmt.Errorf("%s, %s: %w", r.name, c.name, err)
			}
			fmt.Println(secondsTable(r, c, seconds))
			v := judge(r, c.name, seconds)
			verdicts = append(verdicts, v)
			if c.name != "stock" {
				missed += len(v.missed())
			}
		}
	}
	fmt.Println(verdictTable(verdicts))
	return missed, nil
}

// measure lets one server live through one fault.
func (b bench) measure(r row, c contender) ([]second, error) {
	var ups [2]*scripted
	for i := range ups {
		u, err := startScripted()
		if err != nil {
			return nil, err
		}
		defer u.close()
		ups[i] = u
	}
	s, err := c.start(r, []string{ups[0].addr, ups[1].addr})
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if err := s.wait(); err != nil {
		return nil, err
	}
	stop := r.play(ups)
	outcomes, err := generate(s.addr, r.length(), b.rate)
	stop()
	if err != nil {
		return nil, err
	}
	return tally(outcomes, ups[0].queries(), ups[1].queries(), r.length()), nil
}
