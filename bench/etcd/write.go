package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trident-dns/trident/bench/internal/records"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// writers is how many writes may be under way at a time.
	writers = 64
	// writeTick is how often writes become due.
	writeTick = time.Millisecond
)

// write writes records at random among the first n, so many a second for that long, whether or not etcd keeps up; what is
// due while all writers are busy is written later. It returns how many were written.
func write(ctx context.Context, client *clientv3.Client, n, rate int, d time.Duration) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	due := make(chan struct{})
	var done atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range due {
				addr := records.Address(rand.IntN(1 << 24))
				if _, err := client.Put(ctx, records.Key(rand.IntN(n)), records.Value(addr)); err != nil {
					cancel(fmt.Errorf("writing a record: %w", err)) // the first error is the cause
					continue
				}
				done.Add(1)
			}
		})
	}
	tick := time.NewTicker(writeTick)
	defer tick.Stop()
	start := time.Now()
	for given := 0; ctx.Err() == nil; {
		passed := time.Since(start)
		if passed >= d {
			break
		}
		for ; given < dueBy(passed, rate) && ctx.Err() == nil; given++ {
			due <- struct{}{} // a writer takes it: they all go on until the channel is closed
		}
		<-tick.C
	}
	close(due)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	return int(done.Load()), nil
}

// dueBy is how many writes should have begun after that time.
func dueBy(passed time.Duration, rate int) int {
	return int(passed.Seconds() * float64(rate))
}
