package rig

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Load is what dnsperf says of a run.
type Load struct {
	Completed, Lost int
	Rate            float64 // answers a second
}

const (
	clients = "8" // sockets of the generator
	// pacedWindow is how many questions a paced run may have in flight: so many that a server that is late does not slow
	// the generator down.
	pacedWindow = 10_000
	// answerTimeout is after how long a question counts as lost, and its place at the peak goes to another.
	answerTimeout = time.Second
)

// Peak keeps so many questions in flight for that long, which is at least a second.
func Peak(addr, questions string, d time.Duration, outstanding int) (Load, error) {
	out, err := dnsperf(addr, questions, d, "-q", strconv.Itoa(outstanding)).CombinedOutput()
	if err != nil {
		return Load{}, fmt.Errorf("dnsperf: %w\n%s", err, out)
	}
	l, err := parseLoad(string(out))
	if err == nil && l.Completed == 0 {
		err = fmt.Errorf("no question was answered:\n%s", out)
	}
	return l, err
}

// Paced asks at a rate, whether or not answers come, and returns the latency of every answer in ascending order. dir
// takes the output of dnsperf meanwhile.
func Paced(dir, addr, questions string, d time.Duration, rate float64) (Load, []time.Duration, error) {
	out, err := os.Create(filepath.Join(dir, "dnsperf.tmp"))
	if err != nil {
		return Load{}, nil, err
	}
	defer func() { _ = os.Remove(out.Name()) }()
	defer out.Close()
	cmd := dnsperf(addr, questions, d, "-q", strconv.Itoa(pacedWindow), "-Q", strconv.Itoa(max(1, int(rate))), "-v")
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return Load{}, nil, fmt.Errorf("dnsperf: %w", err)
	}
	return readPaced(out.Name())
}

func dnsperf(addr, questions string, d time.Duration, args ...string) *exec.Cmd {
	host, port, _ := net.SplitHostPort(addr) // ours to make
	return exec.Command("taskset", append([]string{"-c", OtherCore, "dnsperf", "-s", host, "-p", port, "-d", questions,
		"-l", strconv.Itoa(max(1, int(d.Seconds()))), "-c", clients, "-t", strconv.Itoa(int(answerTimeout.Seconds()))}, args...)...)
}

func readPaced(file string) (l Load, latency []time.Duration, err error) {
	f, err := os.Open(file)
	if err != nil {
		return l, nil, err
	}
	defer f.Close()
	var rest strings.Builder // what is not the line of a question
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line, ok := strings.CutPrefix(lines.Text(), "> "); ok {
			d, answered, err := parseVerbose(line)
			if err != nil {
				return l, nil, err
			}
			if answered {
				latency = append(latency, d)
			}
			continue
		}
		rest.WriteString(lines.Text() + "\n")
	}
	if err := lines.Err(); err != nil {
		return l, nil, err
	}
	slices.Sort(latency)
	l, err = parseLoad(rest.String())
	return l, latency, err
}

// parseVerbose reads what dnsperf -v prints of a question after the "> ": RCODE NAME TYPE SECONDS, or T and the question
// when no answer came.
func parseVerbose(line string) (latency time.Duration, answered bool, err error) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return 0, false, fmt.Errorf("dnsperf printed an empty question")
	}
	if fields[0] == "T" || fields[0] == "I" {
		return 0, false, nil
	}
	seconds, err := strconv.ParseFloat(fields[len(fields)-1], 64)
	if err != nil {
		return 0, false, fmt.Errorf("no latency in %q: %w", line, err)
	}
	return time.Duration(seconds * float64(time.Second)), true, nil
}

// parseLoad reads the statistics at the end of dnsperf's output.
func parseLoad(out string) (l Load, err error) {
	field := func(label string) (string, error) {
		for line := range strings.Lines(out) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), label); ok {
				return strings.Fields(rest + " -")[0], nil
			}
		}
		return "", fmt.Errorf("dnsperf says nothing of %q:\n%s", label, out)
	}
	for label, n := range map[string]*int{"Queries completed:": &l.Completed, "Queries lost:": &l.Lost} {
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
	if l.Rate, err = strconv.ParseFloat(text, 64); err != nil {
		return l, err
	}
	codes, err := field("Response codes:")
	if err != nil {
		return l, err
	}
	if l.Completed > 0 && codes != "NOERROR" || strings.Contains(out, "%), ") {
		return l, fmt.Errorf("there were other answers than NOERROR:\n%s", out)
	}
	return l, nil
}
