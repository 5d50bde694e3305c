package mirror

import "time"

// Timing holds every delay and bound of a feed. The zero value of a field takes its default.
type Timing struct {
	// Call bounds one unary call. etcd itself gives up on a request after 7 s (5 s and two election time-outs), so that
	// waiting longer than 5 s for one member buys little.
	Call time.Duration
	// Progress is how often the watch asks etcd how far it has come. It measures the lag and keeps the resume revision of
	// a quiet range ahead of compaction. 1,000 replicas ask 250 times a second for each range, which is nothing to etcd.
	Progress time.Duration
	// Silence is how long such questions may go unanswered before the stream counts as dead: several of them.
	Silence time.Duration
	// Quorum is how often a stream that answers is compared with what the quorum says.
	Quorum time.Duration
	// StaleAfter is how long a copy counts as fresh after etcd last confirmed it: a reconnect to another member fits in.
	StaleAfter time.Duration
	// BackoffMin and BackoffMax bound the wait between attempts, which doubles from the one to the other.
	BackoffMin, BackoffMax time.Duration
	// Audit is the mean time between audits, each half as long or half as long again at random, so that replicas do not
	// audit in step. Negative: no audits.
	Audit time.Duration
	// DeepAudit: one audit in so many, by lot, compares key by key.
	DeepAudit int
	// Page is the number of keys of the first page of a list. The size of its keys decides about the others.
	Page int64
	// LeaseGap is the least time between two questions about leases.
	LeaseGap time.Duration
	// LeaseRetry is how long to wait after a question that etcd could not be asked.
	LeaseRetry time.Duration
	// LeaseSweep is how often leases that have ended are forgotten.
	LeaseSweep time.Duration
}

func (t Timing) withDefaults() Timing {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Call, 5 * time.Second},
		{&t.Progress, 4 * time.Second},
		{&t.Silence, 10 * time.Second},
		{&t.Quorum, 30 * time.Second},
		{&t.StaleAfter, 15 * time.Second},
		{&t.BackoffMin, 100 * time.Millisecond},
		{&t.BackoffMax, 10 * time.Second},
		{&t.Audit, 20 * time.Minute},
		{&t.LeaseGap, 5 * time.Millisecond},
		{&t.LeaseRetry, 5 * time.Second},
		{&t.LeaseSweep, time.Hour},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if t.DeepAudit == 0 {
		t.DeepAudit = 18 // every 6 hours
	}
	if t.Page == 0 {
		t.Page = 1000
	}
	return t
}
