package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// page is how many keys one request reads. etcd counts the keys to the end of the range for each page, so that small
// pages cost it the square of their number.
const page = 10_000

// List returns all keys that begin with one of the prefixes, sorted and none twice, and the revision that they are the
// state of.
func (c *Client) List(ctx context.Context, prefixes ...string) ([]Entry, int64, error) {
	var all []Entry
	var revision int64
	for _, prefix := range prefixes {
		// The empty prefix is all keys, which etcd spells as the range from the byte 0 to itself.
		start, end := prefix, clientv3.GetPrefixRangeEnd(prefix)
		if prefix == "" {
			start = "\x00"
		}
		for {
			resp, err := c.readPage(ctx, start, end, revision)
			if err != nil {
				return nil, 0, c.explain(ctx, fmt.Sprintf("reading the keys below %s", prefix), err)
			}
			if revision == 0 {
				revision = resp.Header.Revision
			}
			for _, kv := range resp.Kvs {
				all = append(all, Entry{Key: string(kv.Key), Value: string(kv.Value), Lease: kv.Lease, Revision: kv.ModRevision})
			}
			if !resp.More || len(resp.Kvs) == 0 {
				break
			}
			start = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return compare(a.Key, b.Key) })
	all = slices.CompactFunc(all, func(a, b Entry) bool { return a.Key == b.Key })
	return all, revision, c.leases(ctx, all)
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (c *Client) readPage(ctx context.Context, start, end string, revision int64) (*clientv3.GetResponse, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	return c.etcd.Get(ctx, start, clientv3.WithRange(end), clientv3.WithLimit(page), clientv3.WithRev(revision))
}

// askers is how many leases are asked for at the same time.
const askers = 16

// leases fills in the TTLs. A lease that has ended since takes its keys with it: its TTL stays 0.
func (c *Client) leases(ctx context.Context, entries []Entry) error {
	ttls := map[int64]int64{}
	for _, e := range entries {
		if e.Lease != 0 {
			ttls[e.Lease] = 0
		}
	}
	ids := make(chan int64)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // guards ttls
	var wg sync.WaitGroup
	for range min(askers, len(ttls)) {
		wg.Go(func() {
			for id := range ids {
				ttl, err := c.leaseTTL(ctx, id)
				if err != nil {
					cancel(err)
					continue // the rest of ids has to be taken
				}
				mu.Lock()
				ttls[id] = ttl
				mu.Unlock()
			}
		})
	}
	mu.Lock()
	want := make([]int64, 0, len(ttls))
	for id := range ttls {
		want = append(want, id)
	}
	mu.Unlock()
	for _, id := range want {
		ids <- id
	}
	close(ids)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return c.explain(ctx, "asking for the TTLs of leases", err)
	}
	for i := range entries {
		entries[i].TTL = ttls[entries[i].Lease]
	}
	return nil
}

func (c *Client) leaseTTL(ctx context.Context, id int64) (int64, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	resp, err := c.etcd.TimeToLive(ctx, clientv3.LeaseID(id))
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return max(resp.GrantedTTL, 0), nil
}
