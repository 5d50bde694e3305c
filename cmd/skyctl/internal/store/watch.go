package store

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Watch calls event with each change of the keys that begin with prefix, from revision on, or from now on when it is 0,
// until event returns false or ctx ends, which is no error. began is called when etcd has taken the watch. Revisions of
// Old and New are those of the keys' changes; the TTLs of leases are not known.
func (c *Client) Watch(ctx context.Context, prefix string, revision int64, began func(), event func(Change) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opts := []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithCreatedNotify()}
	if revision > 0 {
		opts = append(opts, clientv3.WithRev(revision))
	}
	// A watch that its server loses is an error, not silence.
	for resp := range c.etcd.Watch(clientv3.WithRequireLeader(ctx), prefix, opts...) {
		if resp.Created {
			began()
		}
		if err := resp.Err(); err != nil {
			if errors.Is(err, rpctypes.ErrCompacted) {
				return fmt.Errorf("watching %s from revision %d: %w, up to %d", prefix, revision, ErrCompacted, resp.CompactRevision)
			}
			if ctx.Err() != nil {
				return nil
			}
			return c.explain(ctx, "watching "+prefix, err)
		}
		for _, ev := range resp.Events {
			if !event(changeOf(ev)) {
				return nil
			}
		}
	}
	if ctx.Err() == nil {
		return fmt.Errorf("watching %s: the watch ended", prefix)
	}
	return nil
}

func changeOf(ev *clientv3.Event) Change {
	var ch Change
	if ev.PrevKv != nil {
		ch.Old = entryOf(ev.PrevKv)
	}
	if ev.Type == mvccpb.Event_PUT {
		ch.New = entryOf(ev.Kv)
	} else if ch.Old == nil {
		// What was there is compacted already.
		ch.Old = entryOf(ev.Kv)
	}
	return ch
}

func entryOf(kv *mvccpb.KeyValue) *Entry {
	return &Entry{Key: string(kv.Key), Value: string(kv.Value), Lease: kv.Lease, Revision: kv.ModRevision}
}
