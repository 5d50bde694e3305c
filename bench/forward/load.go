package main

import (
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// load is what dnsperf says of a run.
type load struct {
	completed, lost int
	rate            float64
}

// runLoad keeps so many questions in flight for that long.
func runLoad(addr, questions string, d time.Duration, outstanding int) (load, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return load{}, err
	}
	out, err := exec.Command("taskset", "-c", otherCore, "dnsperf", "-s", host, "-p", port, "-d", questions,
		"-l", strconv.Itoa(int(d.Seconds())), "-c", "8", "-q", strconv.Itoa(outstanding)).CombinedOutput()
	if err != nil {
		return load{}, fmt.Errorf("dnsperf: %w\n%s", err, out)
	}
	return parseLoad(string(out))
}

// parseLoad reads the statistics at the end of dnsperf's output.
func parseLoad(out string) (l load, err error) {
	field := func(label string) (string, error) {
		for line := range strings.Lines(out) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), label); ok {
				return strings.Fields(rest)[0], nil
			}
		}
		return "", fmt.Errorf("dnsperf says nothing of %q:\n%s", label, out)
	}
	for label, n := range map[string]*int{"Queries completed:": &l.completed, "Queries lost:": &l.lost} {
		text, err := field(label)
		if err != nil {
			return l, err
		}
		if *n, err = strconv.Atoi(text); err != nil {
			return l, err
		}
	}
	text, err := field("Queries per second:")
	if err != nil {
		return l, err
	}
	if l.rate, err = strconv.ParseFloat(text, 64); err != nil {
		return l, err
	}
	if codes, err := field("Response codes:"); err != nil || codes != "NOERROR" {
		return l, fmt.Errorf("there were other answers than NOERROR:\n%s", out)
	}
	return l, nil
}

// probePace is the time between two questions of a probe: rare enough not to count as load.
const probePace = 2 * time.Millisecond

// probe asks now and then while others make the load, because dnsperf keeps no percentiles.
type probe struct {
	done    chan struct{}
	ended   chan struct{}
	latency []time.Duration
}

func startProbe(addr string) *probe {
	p := &probe{done: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		conn, err := dns.Dial("udp", addr)
		if err != nil {
			return
		}
		defer conn.Close()
		tick := time.NewTicker(probePace)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-p.done:
				return
			case <-tick.C:
			}
			m := new(dns.Msg).SetQuestion(name(i%names), dns.TypeA)
			start := time.Now()
			_ = conn.SetDeadline(start.Add(time.Second))
			if conn.WriteMsg(m) != nil {
				continue
			}
			for {
				r, err := conn.ReadMsg()
				if err != nil || r.Id == m.Id {
					break // a time-out counts as the second that it took
				}
			}
			p.latency = append(p.latency, time.Since(start))
		}
	}()
	return p
}

// stop returns the 99th percentile and how many questions were asked.
func (p *probe) stop() (p99 time.Duration, asked int) {
	close(p.done)
	<-p.ended
	if len(p.latency) == 0 {
		return 0, 0
	}
	slices.Sort(p.latency)
	return p.latency[len(p.latency)*99/100], len(p.latency)
}
