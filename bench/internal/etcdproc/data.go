package etcdproc

import (
	"context"
	"fmt"

	"github.com/trident-dns/trident/bench/internal/records"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// seedOps is how many records are written in one transaction.
const seedOps = 2000

// Seed writes the first n records, and returns how many bytes their keys and values have.
func Seed(ctx context.Context, c *clientv3.Client, n int) (bytes int64, err error) {
	for first := 0; first < n; {
		var ops []clientv3.Op
		for ; first < n && len(ops) < seedOps; first++ {
			key, value := records.Key(first), records.Value(records.Address(first))
			ops = append(ops, clientv3.OpPut(key, value))
			bytes += int64(len(key) + len(value))
		}
		if _, err := c.Txn(ctx).Then(ops...).Commit(); err != nil {
			return bytes, fmt.Errorf("writing records: %w", err)
		}
	}
	return bytes, nil
}
