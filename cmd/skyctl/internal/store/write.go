package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// MaxOps is how many keys one transaction changes: what etcd allows by default (--max-txn-ops).
	MaxOps = 128
	// maxBytes is how much of keys and values one transaction has, well below the 1.5 MiB that etcd takes in a request.
	maxBytes = 1 << 20
	// inFlight is how many transactions are on their way at the same time: enough that etcd always has one to write.
	inFlight = 8
)

// Apply writes changes in transactions of as many as fit, each of which happens as a whole or not at all, and only if
// none of its keys has changed since it was read. After each, done is told how many changes were written; calls do not
// overlap. When one fails the rest is not begun, and those on their way are waited for.
//
// Keys with a TTL hang on a lease of that TTL, one for all keys of the call that have the same.
func (c *Client) Apply(ctx context.Context, changes []Change, done func(n int)) error {
	batches, err := Batches(changes)
	if err != nil {
		return err
	}
	leases, err := c.grant(ctx, changes)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan []Change)
	var mu sync.Mutex // guards calls of done
	var wg sync.WaitGroup
	for range min(inFlight, len(batches)) {
		wg.Go(func() {
			for batch := range next {
				if err := c.commit(ctx, batch, leases); err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				done(len(batch))
				mu.Unlock()
			}
		})
	}
	for _, batch := range batches {
		if ctx.Err() != nil {
			break
		}
		next <- batch
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// Batches cuts changes, in their order, into those of one transaction each. Its error wraps ErrTooLarge.
func Batches(changes []Change) ([][]Change, error) {
	var batches [][]Change
	start, bytes := 0, 0
	for i, ch := range changes {
		size := 2 * len(ch.Key()) // once in the guard
		if ch.New != nil {
			size += len(ch.New.Value)
		}
		if size > maxBytes {
			return nil, fmt.Errorf("%.100s: %d bytes: %w", ch.Key(), size, ErrTooLarge)
		}
		if i-start == MaxOps || bytes+size > maxBytes {
			batches = append(batches, changes[start:i])
			start, bytes = i, 0
		}
		bytes += size
	}
	if start < len(changes) {
		batches = append(batches, changes[start:])
	}
	return batches, nil
}

// grant takes a lease for each TTL.
func (c *Client) grant(ctx context.Context, changes []Change) (map[int64]clientv3.LeaseID, error) {
	leases := map[int64]clientv3.LeaseID{}
	for _, ch := range changes {
		if ch.New == nil || ch.New.TTL == 0 || ch.New.Lease != 0 || leases[ch.New.TTL] != 0 {
			continue
		}
		ctx, cancel := c.call(ctx)
		resp, err := c.etcd.Grant(ctx, ch.New.TTL)
		cancel()
		if err != nil {
			return nil, c.explain(ctx, fmt.Sprintf("taking a lease of %d seconds", ch.New.TTL), err)
		}
		leases[ch.New.TTL] = resp.ID
	}
	return leases, nil
}

// commit is one transaction.
func (c *Client) commit(ctx context.Context, batch []Change, leases map[int64]clientv3.LeaseID) error {
	guards := make([]clientv3.Cmp, len(batch))
	ops := make([]clientv3.Op, len(batch))
	for i, ch := range batch {
		var read int64 // 0: there was no such key
		if ch.Old != nil {
			read = ch.Old.Revision
		}
		guards[i] = clientv3.Compare(clientv3.ModRevision(ch.Key()), "=", read)
		switch {
		case ch.New == nil:
			ops[i] = clientv3.OpDelete(ch.Key())
		case ch.New.Lease != 0:
			ops[i] = clientv3.OpPut(ch.Key(), ch.New.Value, clientv3.WithLease(clientv3.LeaseID(ch.New.Lease)))
		case ch.New.TTL != 0:
			ops[i] = clientv3.OpPut(ch.Key(), ch.New.Value, clientv3.WithLease(leases[ch.New.TTL]))
		default:
			ops[i] = clientv3.OpPut(ch.Key(), ch.New.Value)
		}
	}
	call, cancel := c.call(ctx)
	defer cancel()
	resp, err := c.etcd.Txn(call).If(guards...).Then(ops...).Commit()
	what := fmt.Sprintf("writing %s", batch[0].Key())
	if len(batch) > 1 {
		what = fmt.Sprintf("%s and %d more", what, len(batch)-1)
	}
	switch {
	case errors.Is(err, rpctypes.ErrTooManyOps):
		return fmt.Errorf("%s: %w (this etcd runs with --max-txn-ops below %d)", what, err, MaxOps)
	case err != nil:
		return c.explain(ctx, what, err)
	case !resp.Succeeded:
		return fmt.Errorf("%s: %w", what, ErrChanged)
	}
	return nil
}
