package etcdproc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/trident-dns/trident/bench/internal/records"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// BareRead reads all records in pages of so many keys, all of one revision, in a process of its own, and returns how long
// that took from the start of the process, and how many records there were.
func BareRead(core, endpoint string, page int) (took time.Duration, n int, err error) {
	start := time.Now()
	t, rest, err := startHelper(core, "read", endpoint, strconv.Itoa(page))
	if err != nil {
		return 0, 0, err
	}
	took = time.Since(start)
	t.Stop()
	n, err = strconv.Atoi(rest)
	return took, n, err
}

// readPages is the helper: ENDPOINT PAGE. It keeps nothing of what it reads.
func readPages(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("needs an endpoint and a number of keys")
	}
	page, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	client, err := Client(args[0])
	if err != nil {
		return err
	}
	defer client.Close()
	end := clientv3.GetPrefixRangeEnd(records.Prefix)
	n := 0
	for next, revision := records.Prefix, int64(0); ; {
		resp, err := client.Get(ctx, next, clientv3.WithRange(end), clientv3.WithLimit(page), clientv3.WithRev(revision))
		if err != nil {
			return err
		}
		n += len(resp.Kvs)
		if !resp.More || len(resp.Kvs) == 0 {
			break
		}
		if revision == 0 {
			revision = resp.Header.Revision
		}
		next = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
	fmt.Println(ready, n)
	return nil
}
