package main

import (
	"strings"
	"testing"
	"time"
)

func TestTableComparesWithTheFirst(t *testing.T) {
	got := table("udp", []contender{{name: "stock"}, {name: "ours"}}, [][]sample{
		{{rate: 100, cpu: 40 * time.Microsecond, p99: time.Millisecond}, {rate: 200, cpu: 40 * time.Microsecond, p99: time.Millisecond},
			{rate: 900, cpu: 40 * time.Microsecond, p99: time.Millisecond}},
		{{rate: 300, cpu: 20 * time.Microsecond, p99: time.Millisecond}},
	})
	for _, want := range []string{"200.0     1.00", "300.0     1.50", "20.0     0.50"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestOutputOfDnsperfIsRead(t *testing.T) {
	out := `Statistics:

  Queries sent:         123456
  Queries completed:    123400 (99.95%)
  Queries lost:         56 (0.05%)

  Response codes:       NOERROR 123400 (100.00%)
  Average packet size:  request 37, response 53
  Run time (s):         10.000000
  Queries per second:   12340.000000
`
	got, err := parseLoad(out)
	if want := (load{completed: 123400, lost: 56, rate: 12340}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if _, err := parseLoad(strings.Replace(out, "NOERROR 123400", "SERVFAIL 123400", 1)); err == nil {
		t.Error("a run of failures is a result")
	}
	if _, err := parseLoad("nothing"); err == nil {
		t.Error("no statistics are a result")
	}
}

func TestCPUTimeIsRead(t *testing.T) {
	got, err := parseCPU("4711 (a name) S) S 1 4711 4711 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 1 2 3")
	if want := 3 * time.Second; err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := parseCPU("4711 (x) S"); err == nil {
		t.Error("read CPU time where there is none")
	}
}
