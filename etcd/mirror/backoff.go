package mirror

import "time"

// backoff is the wait before attempt n (0 is the first after a failure): it doubles from least to most, of which the
// upper half is drawn by lot, r being a random number in [0, 1). Replicas that lost the same member thus come back
// spread out.
func backoff(n int, least, most time.Duration, r float64) time.Duration {
	d := most
	// 2^62 ns is a century: any shift that could overflow is beyond most.
	if n < 62 && least < most>>n {
		d = least << n
	}
	return d/2 + time.Duration(r*float64(d-d/2))
}
