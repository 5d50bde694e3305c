// Command hosts compares what a long list costs two CoreDNS binaries, one with the in-tree hosts plugin and one with
// ours: resident memory above an idle server, the peak of it while the list is loaded again, and the time from the
// start of the process to the first right answer. It starts the binaries in turns, so that whatever else the machine
// does meets both, and prints the medians and their ratios.
//
//	go run ./bench/hosts -stock path/to/coredns -ours path/to/trident -lines 1000000 -rounds 5
//
// Each server has core 0 for itself. It reads /proc and needs taskset, so it runs on Linux. Only the loopback interface is used.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"
)

func main() {
	var (
		stock  = flag.String("stock", "", "binary with the in-tree hosts plugin")
		ours   = flag.String("ours", "", "binary with this project's hosts plugin")
		lines  = flag.Int("lines", 1_000_000, "names in the list")
		rounds = flag.Int("rounds", 5, "how often to start each binary")
		settle = flag.Duration("settle", 5*time.Second, "how long to wait before memory is read")
	)
	flag.Parse()
	log.SetFlags(0)
	if *stock == "" || *ours == "" || *lines < 1 || *rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run([2]string{*stock, *ours}, *lines, *rounds, *settle); err != nil {
		log.Fatal(err)
	}
}

func run(binaries [2]string, lines, rounds int, settle time.Duration) error {
	dir, err := os.MkdirTemp("", "bench-hosts")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l := list{path: filepath.Join(dir, "list"), lines: lines}
	size, err := l.write(firstAddr)
	if err != nil {
		return err
	}
	fmt.Printf("%d names, %.1f MB of text, %d rounds\n\n", lines, float64(size)/1e6, rounds)
	var samples [2][]sample
	for round := range rounds {
		for i, binary := range binaries {
			s, err := measure(binary, dir, l, settle)
			if err != nil {
				return fmt.Errorf("round %d, %s: %w", round+1, binary, err)
			}
			fmt.Printf("round %d %-6s %s\n", round+1, [2]string{"stock", "ours"}[i], s)
			samples[i] = append(samples[i], s)
		}
	}
	fmt.Println()
	fmt.Print(table(samples[0], samples[1]))
	return nil
}

// measure runs one binary through a round.
func measure(binary, dir string, l list, settle time.Duration) (sample, error) {
	var s sample
	idle, err := start(binary, dir, os.DevNull)
	if err != nil {
		return s, err
	}
	_, err = idle.waitFor(probeName, probeAddr)
	if err == nil {
		time.Sleep(settle)
		s.idle, err = idle.Memory("VmRSS")
	}
	idle.Stop()
	if err != nil {
		return s, err
	}

	if _, err := l.write(firstAddr); err != nil {
		return s, err
	}
	srv, err := start(binary, dir, l.path)
	if err != nil {
		return s, err
	}
	defer srv.Stop()
	if s.ready, err = srv.waitFor(l.name(l.lines-1), firstAddr); err != nil {
		return s, err
	}
	time.Sleep(settle)
	if s.loaded, err = srv.Memory("VmRSS"); err != nil {
		return s, err
	}
	if err := srv.ResetPeak(); err != nil {
		return s, err
	}
	if _, err := l.write(secondAddr); err != nil {
		return s, err
	}
	if _, err := srv.waitFor(l.name(l.lines-1), secondAddr); err != nil {
		return s, err
	}
	time.Sleep(settle)
	s.peak, err = srv.Memory("VmHWM")
	return s, err
}
