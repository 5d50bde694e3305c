package fastudp

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroupLimits are the files that say how much memory a container may use, in versions 2 and 1 of cgroups.
var cgroupLimits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// availableMemory is what the machine has or the container may use, in bytes.
func availableMemory() int64 {
	memory := int64(math.MaxInt64)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		memory = int64(info.Totalram) * int64(info.Unit)
	}
	for _, file := range cgroupLimits {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
			memory = min(memory, n) // "max" is no number, and no limit
		}
	}
	return memory
}
