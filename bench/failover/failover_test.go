package main

import (
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestTallySortsOutcomesIntoSeconds(t *testing.T) {
	outcomes := []outcome{
		{sent: 100 * time.Millisecond, latency: 2 * time.Millisecond},
		{sent: 200 * time.Millisecond, latency: time.Millisecond},
		{sent: 1100 * time.Millisecond, latency: 3 * time.Millisecond, rcode: dns.RcodeServerFailure},
		{sent: 1200 * time.Millisecond},
		{sent: 1300 * time.Millisecond, latency: time.Millisecond},
	}
	seconds := tally(outcomes, []int{2, 4}, []int{0, 1, 7}, 2*time.Second)
	if len(seconds) != 2 {
		t.Fatalf("%d seconds, want 2", len(seconds))
	}
	if s := seconds[0]; s.asked != 2 || s.servfails != 0 || s.unanswered != 0 || s.queries != 2 || s.firstGood != 0 {
		t.Errorf("second 0 is %+v", s)
	}
	s := seconds[1]
	if s.asked != 3 || s.servfails != 1 || s.unanswered != 1 || s.queries != 5 {
		t.Errorf("second 1 is %+v", s)
	}
	if want := 200*time.Millisecond + 1; s.firstGood != want {
		t.Errorf("good from %v on, want %v", s.firstGood, want)
	}
	if p := s.percentile(1); p != giveUp {
		t.Errorf("a question without an answer counts as %v, want %v", p, giveUp)
	}
}

func TestPercentileIsTheLatencyThatTheShareDoesNotExceed(t *testing.T) {
	var s second
	for i := 1; i <= 200; i++ {
		s.latencies = append(s.latencies, time.Duration(i))
	}
	for _, tt := range []struct {
		p    float64
		want time.Duration
	}{{0.5, 100}, {0.99, 198}, {0.999, 200}, {1, 200}, {0, 1}} {
		if got := s.percentile(tt.p); got != tt.want {
			t.Errorf("percentile(%v) = %d, want %d", tt.p, got, tt.want)
		}
	}
	if got := (second{}).percentile(0.5); got != 0 {
		t.Errorf("of no question: %v", got)
	}
}

// run makes the seconds of a row in which every question took 1 ms and reached an upstream once.
func run(r row) []second {
	seconds := make([]second, r.length()/time.Second)
	for i := range seconds {
		seconds[i] = second{asked: 100, queries: 100}
		for range 100 {
			seconds[i].latencies = append(seconds[i].latencies, time.Millisecond)
		}
	}
	return seconds
}

func TestVerdicts(t *testing.T) {
	fault := rows[0]
	gone := rows[len(rows)-1]
	tests := []struct {
		name   string
		row    row
		change func([]second)
		missed string
	}{
		{"nothing happened", fault, func([]second) {}, ""},
		{"a failure before the fault", fault, func(s []second) { s[1].servfails = 1 }, ""},
		{"one SERVFAIL", fault, func(s []second) { s[9].servfails = 1 }, "failures"},
		{"one without an answer", fault, func(s []second) { s[4].unanswered = 1 }, "failures"},
		{"slow at first", fault, func(s []second) { s[4].latencies[98] = 400 * time.Millisecond }, "p99, 1st s"},
		{"slow in the second after", fault, func(s []second) { s[5].latencies[98] = 400 * time.Millisecond }, ""},
		{"slow later", fault, func(s []second) { s[6].latencies[98] = 100 * time.Millisecond }, "p99 later"},
		{"load on the upstreams at first", fault, func(s []second) { s[5].queries = 150 }, ""},
		{"load on the upstreams later", fault, func(s []second) { s[8].queries = 107 }, "amplification"},
		{"back at once", gone, func(s []second) { s[8].firstGood = time.Second }, ""},
		{"back late", gone, func(s []second) { s[10].firstGood = time.Millisecond }, "recovery"},
	}
	for _, tt := range tests {
		seconds := run(tt.row)
		tt.change(seconds)
		missed := judge(tt.row, "ours", seconds).missed()
		switch {
		case tt.missed == "" && len(missed) > 0:
			t.Errorf("%s: missed %v", tt.name, missed)
		case tt.missed != "" && (len(missed) != 1 || missed[0].name != tt.missed):
			t.Errorf("%s: missed %v, want %s alone", tt.name, missed, tt.missed)
		}
	}
}

func TestAScriptedUpstreamDoesAsItIsTold(t *testing.T) {
	s, err := startScripted()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.begin(time.Now())
	m := new(dns.Msg).SetQuestion("a.test.", dns.TypeA)
	ask := func(network string, patience time.Duration) (*dns.Msg, error) {
		r, _, err := (&dns.Client{Net: network, Timeout: patience}).Exchange(m, s.addr)
		return r, err
	}
	for _, network := range []string{"udp", "tcp"} {
		s.behave(sound)
		if r, err := ask(network, 5*time.Second); err != nil || len(r.Answer) != 1 {
			t.Errorf("%s, sound: %v, %v", network, r, err)
		}
		s.behave(silent)
		if r, err := ask(network, 50*time.Millisecond); err == nil {
			t.Errorf("%s, silent: %v", network, r)
		}
		s.behave(servfailHalf)
		failed := 0
		for range 4 {
			r, err := ask(network, 5*time.Second)
			if err != nil {
				t.Fatalf("%s, servfail: %v", network, err)
			}
			if r.Rcode == dns.RcodeServerFailure {
				failed++
			}
		}
		if failed != 2 {
			t.Errorf("%s, servfail: %d of 4 failed, want 2", network, failed)
		}
	}
	s.behave(resets)
	if r, err := ask("tcp", 5*time.Second); err == nil {
		t.Errorf("resets: %v", r)
	}
	total := 0
	for _, n := range s.queries() {
		total += n
	}
	if want := 2*6 + 1; total != want {
		t.Errorf("%d queries counted, want %d", total, want)
	}
}
