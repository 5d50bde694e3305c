package contest

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/trident-dns/trident/bench/internal/rig"
)

// Row is one task for all its contenders.
type Row struct {
	Name       string // short, for -only and file names
	Title      string // what is asked of the servers, for people
	Questions  string // file for dnsperf, all of which have answers that are NOERROR
	Probe      rig.Probe
	Contenders []Contender
	// Work counts what something else than the server has done so far because of the questions, such as reads of etcd;
	// nil where nothing is counted.
	Work func() (float64, error)
	// WorkTitle heads the column of Work per question.
	WorkTitle string
}

// Contest says how to run rows.
type Contest struct {
	Rounds      int
	Duration    time.Duration // of the run at the peak; that at seven tenths takes half of it
	Outstanding int           // questions in flight at the peak
	Dir         string        // for files that are of no use afterwards
	// Profiles is where profiles go. When it is set, each contender that can runs once, under peak load, and nothing else
	// is measured.
	Profiles string
}

const (
	// patience is how long a server may take until it gives its first right answer.
	patience = time.Minute
	// warmUp comes before what is measured: connections are made, heaps have grown, caches are full.
	warmUp = time.Second
	// paced is the part of the peak rate at which latency is measured.
	paced = 0.7
)

// Run runs a row. What goes wrong with a contender is in its part of the result.
func (c Contest) Run(row Row) Result {
	rounds := c.Rounds
	if c.Profiles != "" {
		rounds = 1
	}
	r := Result{Row: row.Name, Title: row.Title, Counted: row.WorkTitle}
	for _, contender := range row.Contenders {
		e := Entry{Name: contender.Name, Stock: contender.Stock}
		if !contender.Installed() {
			e.Problem = "not installed"
		}
		r.Entries = append(r.Entries, e)
	}
	// In turns, so that whatever else the machine does meets all of them.
	for round := range rounds {
		for i, contender := range row.Contenders {
			e := &r.Entries[i]
			if e.Problem != "" || c.Profiles != "" && !contender.Profiled {
				continue
			}
			s, err := c.measure(row, contender)
			if err != nil {
				e.Problem = "failed"
				log.Printf("%s, round %d, %s: %v", row.Name, round+1, contender.Name, err)
				continue
			}
			log.Printf("%s, round %d, %-20s %s", row.Name, round+1, contender.Name, s)
			e.Samples = append(e.Samples, s)
		}
	}
	return r
}

// measure runs one contender once.
func (c Contest) measure(row Row, contender Contender) (s Sample, err error) {
	srv, err := contender.Start(c.Dir, c.Profiles != "")
	if err != nil {
		return s, err
	}
	defer srv.Stop()
	if _, err := srv.WaitFor(srv.Addr, row.Probe, patience); err != nil {
		return s, err
	}
	if _, err := rig.Peak(srv.Addr, row.Questions, warmUp, c.Outstanding); err != nil {
		return s, err
	}
	profiled := make(chan error, 1)
	if c.Profiles != "" {
		name := fileName(row.Name + "-" + contender.Name)
		go func() { profiled <- collect(c.Profiles, name, srv.pprof, c.Duration) }()
	} else {
		profiled <- nil
	}
	err = c.peak(row, srv, &s)
	if err := errors.Join(err, <-profiled); err != nil || c.Profiles != "" {
		return s, err
	}
	load, latency, err := rig.Paced(c.Dir, srv.Addr, row.Questions, c.Duration/2, paced*s.Rate)
	if err != nil {
		return s, err
	}
	s.Lost = float64(load.Lost) / float64(load.Lost+load.Completed)
	s.P50, s.P99 = Percentile(latency, 50), Percentile(latency, 99)
	return s, nil
}

// peak finds the rate that the server can do, and what a question costs.
func (c Contest) peak(row Row, srv *Server, s *Sample) error {
	work := row.Work
	if work == nil {
		work = func() (float64, error) { return 0, nil }
	}
	worked, err := work()
	if err != nil {
		return err
	}
	before, err := srv.CPU()
	if err != nil {
		return err
	}
	start := time.Now()
	load, err := rig.Peak(srv.Addr, row.Questions, c.Duration, c.Outstanding)
	if err != nil {
		return err
	}
	took := time.Since(start)
	after, err := srv.CPU()
	if err != nil {
		return err
	}
	workedAfter, err := work()
	if err != nil {
		return err
	}
	n := float64(load.Completed)
	s.Rate = load.Rate
	s.CPU = time.Duration(float64(after-before) / n)
	s.Busy = float64(after-before) / float64(took)
	s.PeakLost = float64(load.Lost) / (n + float64(load.Lost))
	s.Work = (workedAfter - worked) / n
	return nil
}

// String is for the log.
func (s Sample) String() string {
	text := fmt.Sprintf("%7.0f/s, %6.2f µs CPU a question, core %3.0f %% busy", s.Rate, micros(s.CPU), 100*s.Busy)
	if s.P99 > 0 {
		text += fmt.Sprintf(", p50 %s, p99 %s, lost %.3f %%", s.P50, s.P99, 100*s.Lost)
	}
	return text
}
