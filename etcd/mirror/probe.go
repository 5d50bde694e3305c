package mirror

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Probe connects to the cluster that cfg names, logs in, reads one key of each range and returns how many keys each has.
// It leaves nothing behind, neither here nor in etcd. Errors are those of cfg, and those of etcd or of the way there.
func Probe(ctx context.Context, cfg Config, ranges []Range) ([]int64, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	conn := newConnector(cfg)
	defer conn.close()
	client, err := conn.get(ctx)
	if err != nil {
		return nil, err
	}
	var counts []int64
	for _, r := range ranges {
		n, err := probeRange(ctx, client, r, cfg.Timing)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", r, conn.explain(ctx, client, err))
		}
		counts = append(counts, n)
	}
	return counts, nil
}

func probeRange(ctx context.Context, client *clientv3.Client, r Range, t Timing) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Call)
	defer cancel()
	resp, err := client.Get(ctx, r.Start, clientv3.WithRange(r.End), clientv3.WithLimit(1))
	if err != nil {
		return 0, err
	}
	return resp.Count, nil
}
