package mirror

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// pageBytes is what a page should have of keys and values: far from the limits of gRPC, and a small part of what etcd
	// sends in the time that a call may take.
	pageBytes = 2 << 20
	// maxPage bounds the keys of a page. For each page etcd counts the keys from there to the end of the range, so that
	// small pages cost it the square of their number: 300,000 keys took 33 s in pages of 1,000 and 5 s in pages of 5,000.
	maxPage = 20_000
	minPage = 100
)

// nextPage is the number of keys to ask for after a page that had so many keys and bytes. It grows eightfold at most: the
// first keys may not be like the others.
func nextPage(keys, bytes int64) int64 {
	if keys == 0 {
		return minPage
	}
	fits := pageBytes * keys / max(1, bytes)
	return max(minPage, min(fits, 8*keys, maxPage))
}

// pager reads a range in pages, all of the same revision. A page that is not to be had is asked for again, where a list
// that began anew would cost an etcd which is short of breath, perhaps because all replicas list, all of its pages again.
type pager struct {
	client       *clientv3.Client
	keys         Range
	timing       Timing
	limit        int64 // of the next page, in keys
	serializable bool  // ask one member instead of the quorum for the first page
	keysOnly     bool
	revision     int64 // to read at; 0 takes that of the first page

	page   *clientv3.GetResponse // the first
	header *pb.ResponseHeader    // of the first page
	count  int64                 // of keys yielded
	err    error                 // what ended all before the end
}

func newPager(client *clientv3.Client, keys Range, t Timing) *pager {
	return &pager{client: client, keys: keys, timing: t, limit: t.Page}
}

// first reads the first page, and with it decides the revision.
func (p *pager) first(ctx context.Context) error {
	page, err := p.read(ctx, p.keys.Start, p.serializable)
	if err != nil {
		return err
	}
	p.page, p.header = page, page.Header
	if p.revision == 0 {
		p.revision = p.header.Revision
	}
	return nil
}

// pageAttempts is how often a page after the first is asked for.
const pageAttempts = 5

// more reads a page after the first, from any member: at a revision that the quorum has told, all that have it say the
// same. One that has not come to it yet is no reason to give up.
func (p *pager) more(ctx context.Context, start string) (page *clientv3.GetResponse, err error) {
	serializable := true
	for n := range pageAttempts {
		page, err = p.read(ctx, start, serializable)
		if err == nil || !worthAnother(err) {
			return page, err
		}
		serializable = !errors.Is(err, rpctypes.ErrFutureRev)
		pause := time.NewTimer(backoff(n, p.timing.BackoffMin, p.timing.BackoffMax, rand.Float64()))
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil, ctx.Err()
		case <-pause.C:
		}
	}
	return nil, err
}

// worthAnother tells whether a page may be had from another member, or later.
func worthAnother(err error) bool {
	return unavailable(err) || errors.Is(err, rpctypes.ErrFutureRev) || errors.Is(err, rpctypes.ErrTooManyRequests)
}

func (p *pager) read(ctx context.Context, start string, serializable bool) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timing.Call)
	defer cancel()
	opts := []clientv3.OpOption{
		clientv3.WithRange(p.keys.End), clientv3.WithLimit(p.limit), clientv3.WithRev(p.revision),
	}
	if serializable {
		opts = append(opts, clientv3.WithSerializable())
	}
	if p.keysOnly {
		opts = append(opts, clientv3.WithKeysOnly())
	}
	page, err := p.client.Get(ctx, start, opts...)
	if err != nil {
		return nil, err
	}
	if p.header != nil && page.Header.ClusterId != p.header.ClusterId {
		return nil, fmt.Errorf("%w: ID %x and %x in one list", errCluster, page.Header.ClusterId, p.header.ClusterId)
	}
	return page, nil
}

// all yields every key, the first page's, which must have been read, and those of the pages after it. What stops it
// before the end is yielded last, and kept in err. Each lease is told to seen. While a page is yielded the next one is
// read.
func (p *pager) all(ctx context.Context, seen func(lease int64)) iter.Seq2[KV, error] {
	return func(yield func(KV, error) bool) {
		for page := p.page; ; {
			next := p.ahead(ctx, page)
			for _, kv := range page.Kvs {
				p.count++
				if kv.Lease != 0 {
					seen(kv.Lease)
				}
				if !yield(fromPB(kv), nil) {
					p.err = errors.New("the list was not read to its end")
					_, _ = next() // it must not go on alone
					return
				}
			}
			if page, p.err = next(); p.err != nil {
				yield(KV{}, p.err)
				return
			}
			if page == nil {
				return
			}
		}
	}
}

// ahead begins to read the page after the given one, and returns what waits for it. There is none after the last.
func (p *pager) ahead(ctx context.Context, page *clientv3.GetResponse) (wait func() (*clientv3.GetResponse, error)) {
	if !page.More || len(page.Kvs) == 0 {
		return func() (*clientv3.GetResponse, error) { return nil, nil }
	}
	var bytes int64
	for _, kv := range page.Kvs {
		bytes += int64(len(kv.Key) + len(kv.Value))
	}
	p.limit = nextPage(int64(len(page.Kvs)), bytes)
	start := string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	done := make(chan struct{})
	var next *clientv3.GetResponse
	var err error
	go func() {
		defer close(done)
		next, err = p.more(ctx, start)
	}()
	return func() (*clientv3.GetResponse, error) {
		<-done
		return next, err
	}
}

func fromPB(kv *mvccpb.KeyValue) KV {
	return KV{Key: string(kv.Key), Value: kv.Value, ModRevision: kv.ModRevision, Lease: kv.Lease}
}
