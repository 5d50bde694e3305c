package contest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Report is a whole run, as it is kept on disk.
type Report struct {
	Time     time.Time     `json:"time"`
	CPU      string        `json:"cpu"`    // model
	Kernel   string        `json:"kernel"` // release
	Go       string        `json:"go"`     // that built this program
	Rounds   int           `json:"rounds"`
	Duration time.Duration `json:"duration_ns"`
	Window   int           `json:"outstanding"` // questions in flight at the peak
	Results  []Result      `json:"results"`
}

// NewReport describes the machine and the run.
func NewReport(c Contest) Report {
	info, _ := os.ReadFile("/proc/cpuinfo")                // what cannot be read stays empty
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // likewise
	return Report{
		Time: time.Now().UTC().Truncate(time.Second), CPU: cpuModel(string(info)), Kernel: strings.TrimSpace(string(kernel)),
		Go: runtime.Version(), Rounds: c.Rounds, Duration: c.Duration, Window: c.Outstanding,
	}
}

// Write writes the report to a file, as JSON.
func (r Report) Write(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// cpuModel finds the name of the processor in /proc/cpuinfo.
func cpuModel(info string) string {
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
