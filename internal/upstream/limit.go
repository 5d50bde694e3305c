package upstream

import (
	"fmt"
	"sync/atomic"
	"time"
)

// DefaultMaxInFlight is how many questions a resolver may have under way unless the configuration says otherwise. Each
// holds a goroutine and buffers, some 10 kB, so this many of them are 40 MB: a quarter of what a cluster's DNS pod usually
// has. It is far more than a resolver that is well ever needs: 200,000 questions a second at 20 ms each.
const DefaultMaxInFlight = 4096

// minBurst is how many questions may always come at once: a client that opens a page asks about a dozen.
const minBurst = 16

// maxBurst keeps the arithmetic within its range.
const maxBurst = 1 << 20

// Exchange returns one of these when a bound is reached. Both wrap ErrLimited.
var (
	errRate     = fmt.Errorf("%w: rate_limit", ErrLimited)
	errInFlight = fmt.Errorf("%w: questions in flight", ErrLimited)
)

// pace is a token bucket: so many datagrams a second, so many at once. The zero value has no limit.
type pace struct {
	each  time.Duration // between two; zero: no limit
	ahead time.Duration // how far the sum of those that went out may be ahead of the clock
	// due is when the next one would be due if all had kept their distance.
	due atomic.Int64
}

func newPace(perSecond float64, burst int) pace {
	if perSecond <= 0 {
		return pace{}
	}
	if burst <= 0 {
		burst = max(int(perSecond/10), minBurst)
	}
	each := time.Duration(max(1, min(float64(time.Second)/perSecond, float64(time.Hour))))
	return pace{each: each, ahead: each * time.Duration(min(burst, maxBurst)-1)}
}

// take tells whether one may go out at now, which counts from any fixed time.
func (p *pace) take(now time.Duration) bool {
	if p.each == 0 {
		return true
	}
	for {
		due := p.due.Load()
		base := max(due, int64(now))
		if base-int64(now) > int64(p.ahead) {
			return false
		}
		if p.due.CompareAndSwap(due, base+int64(p.each)) {
			return true
		}
	}
}
