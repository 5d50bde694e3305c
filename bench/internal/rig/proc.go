package rig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// userTick is the unit of CPU time in /proc (USER_HZ, which is 100 on every Linux).
const userTick = 10 * time.Millisecond

// CPU returns the CPU time so far of the process and of those that it started and that still run: all threads, user and
// system.
func (p *Process) CPU() (time.Duration, error) {
	stats, err := readStats()
	if err != nil {
		return 0, err
	}
	cpu, ok := treeCPU(stats, p.cmd.Process.Pid)
	if !ok {
		return 0, errors.New("the process ended")
	}
	return cpu, nil
}

// Memory returns a figure of /proc/PID/status, such as VmRSS or VmHWM, in bytes.
func (p *Process) Memory(field string) (float64, error) {
	status, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, err
	}
	return parseStatus(string(status), field)
}

// ResetPeak makes VmHWM start again from what is resident now.
func (p *Process) ResetPeak() error { return os.WriteFile(p.proc("clear_refs"), []byte("5"), 0) }

func (p *Process) proc(file string) string {
	return filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), file)
}

// stat is what /proc/PID/stat says of a process.
type stat struct {
	pid, parent int
	cpu         time.Duration
}

func readStats() ([]stat, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var all []stat
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		s, err := parseStat(string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// parseStat reads the process's number, that of its parent, and utime and stime (fields 1, 4, 14 and 15 of proc(5)). The
// second field is a name in parentheses that may contain anything.
func parseStat(text string) (s stat, err error) {
	pid, _, _ := strings.Cut(text, " ")
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return s, fmt.Errorf("no CPU time in %q", text)
	}
	var n [4]int
	for i, field := range []string{pid, fields[1], fields[11], fields[12]} {
		if n[i], err = strconv.Atoi(field); err != nil {
			return s, fmt.Errorf("reading %q: %w", text, err)
		}
	}
	return stat{pid: n[0], parent: n[1], cpu: time.Duration(n[2]+n[3]) * userTick}, nil
}

// treeCPU adds up root and its descendants.
func treeCPU(stats []stat, root int) (sum time.Duration, ok bool) {
	children := map[int][]int{}
	cpu := map[int]time.Duration{}
	for _, s := range stats {
		children[s.parent] = append(children[s.parent], s.pid)
		cpu[s.pid] = s.cpu
	}
	if _, ok := cpu[root]; !ok {
		return 0, false
	}
	for todo := []int{root}; len(todo) > 0; {
		pid := todo[0]
		todo = append(todo[1:], children[pid]...)
		sum += cpu[pid]
	}
	return sum, true
}

func parseStatus(status, field string) (float64, error) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return float64(kb) * 1024, err
		}
	}
	return 0, errors.New("no " + field + " in /proc")
}
