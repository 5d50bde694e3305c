//go:build !linux

package fastudp

import "math"

// availableMemory is not asked for where fastudp does not serve.
func availableMemory() int64 { return math.MaxInt64 }
