package fastudp

import (
	"math"
	"runtime/debug"
)

const (
	// questionCost is what a question in progress takes at the most in common set-ups, in bytes: a goroutine whose stack
	// has grown to 16 KiB, and half as much for messages.
	questionCost = 24 << 10

	// memoryShare is the part of the memory that questions in progress may take: a quarter. The rest is for what
	// they are answered from.
	memoryShare = 4

	leastLimit = 1 << 10 // in progress at 1,000 questions a second that take a second each
	mostLimit  = 1 << 17 // 3 GiB
)

// defaultLimit is max_concurrent where the Corefile does not say.
func defaultLimit() int { return limitFor(min(availableMemory(), memoryLimit())) }

// limitFor says how many questions may be in progress with so many bytes of memory.
func limitFor(memory int64) int {
	return int(max(leastLimit, min(mostLimit, memory/memoryShare/questionCost)))
}

// memoryLimit is that of the Go runtime (GOMEMLIMIT), math.MaxInt64 when there is none.
func memoryLimit() int64 {
	if n := debug.SetMemoryLimit(-1); n > 0 {
		return n
	}
	return math.MaxInt64
}
