package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const statistics = `
Statistics:

  Queries sent:         123456
  Queries completed:    123400 (99.95%)
  Queries lost:         56 (0.05%)

  Response codes:       NOERROR 123400 (100.00%)
  Average packet size:  request 37, response 53
  Run time (s):         10.000000
  Queries per second:   12340.000000
`

func TestOutputOfDnsperfIsRead(t *testing.T) {
	got, err := parseLoad(statistics)
	if want := (Load{Completed: 123400, Lost: 56, Rate: 12340}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, codes := range []string{"SERVFAIL 123400 (100.00%)", "NOERROR 123399 (99.99%), SERVFAIL 1 (0.01%)"} {
		if _, err := parseLoad(strings.Replace(statistics, "NOERROR 123400 (100.00%)", codes, 1)); err == nil {
			t.Errorf("a run with %s is a result", codes)
		}
	}
	if _, err := parseLoad("nothing"); err == nil {
		t.Error("no statistics are a result")
	}
}

func TestARunWithoutAnyAnswerIsAllLoss(t *testing.T) {
	out := "Queries completed: 0 (0.00%)\nQueries lost: 7 (100.00%)\nResponse codes:\nQueries per second: 0.000000\n"
	if got, err := parseLoad(out); err != nil || got != (Load{Lost: 7}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestLatencyOfEachQuestionIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	out := "DNS Performance Testing Tool\n> NOERROR n1.bench.example. A 0.000531\n> T n2.bench.example. A\n" +
		"Warning: late\n> NOERROR n3.bench.example. AAAA 0.000117\n" + statistics
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	l, latency, err := readPaced(file)
	if err != nil || l.Lost != 56 {
		t.Fatal(l, err)
	}
	if len(latency) != 2 || latency[0] != 117*time.Microsecond || latency[1] != 531*time.Microsecond {
		t.Errorf("got %v", latency)
	}
	for _, line := range []string{"", "NOERROR n1.bench.example. A soon"} {
		if _, _, err := parseVerbose(line); err == nil {
			t.Errorf("%q has a latency", line)
		}
	}
}

func TestCPUTimeOfAllProcessesOfATreeIsAddedUp(t *testing.T) {
	var stats []stat
	for _, text := range []string{
		"10 (nsd) S 1 10 10 0 -1 4194560 1 0 0 0 100 50 0 0 20 0 9 0 1 2 3",
		"11 (a name) S) S 10 10 10 0 -1 4194560 1 0 0 0 20 5 0 0 20 0 9 0 1 2 3",
		"12 (x) S 11 10 10 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 9 0 1 2 3",
		"13 (other) S 1 10 10 0 -1 4194560 1 0 0 0 1000 1 0 0 20 0 9 0 1 2 3",
	} {
		s, err := parseStat(text)
		if err != nil {
			t.Fatal(err)
		}
		stats = append(stats, s)
	}
	if got, ok := treeCPU(stats, 10); !ok || got != 1770*time.Millisecond {
		t.Errorf("got %v, %v", got, ok)
	}
	if _, ok := treeCPU(stats, 14); ok {
		t.Error("a process that is not there has CPU time")
	}
	if _, err := parseStat("4711 (x) S"); err == nil {
		t.Error("read CPU time where there is none")
	}
}

func TestMemoryIsReadInBytes(t *testing.T) {
	status := "Name:\tcoredns\nVmHWM:\t  200 kB\nVmRSS:\t   100 kB\n"
	if got, err := parseStatus(status, "VmRSS"); err != nil || got != 102400 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parseStatus(status, "VmSwap"); err == nil {
		t.Error("read what is not there")
	}
}
