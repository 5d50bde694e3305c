package mirror

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// list fills the sink with the range as it is at one revision: that of the first page, to which the others are pinned.
func (f *Feed) list(client *clientv3.Client) error {
	p := pager{client: client, keys: f.keys, timing: f.timing}
	err := p.first(f.ctx)
	confirmed := err == nil
	if err != nil && !f.listed && unavailable(err) {
		// Without quorum, a member still knows what it has applied: a state that existed, if not the last. That is worth
		// having when the alternative is what is on disk, or nothing.
		if p.serializable = true; p.first(f.ctx) == nil {
			if f.at.Revision > 0 && (p.header.ClusterId != f.at.ClusterID || p.header.Revision < f.next-1) {
				return fmt.Errorf("%w, which has revision %d: %w", errBehind, p.header.Revision, err)
			}
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("listing %s: %w", f.keys, err)
	}

	at := Position{
		ClusterID: p.header.ClusterId, RaftTerm: p.header.RaftTerm, Revision: p.header.Revision, Began: f.at.Began,
	}
	if confirmed && (f.at.Began == 0 || judge(f.at, f.next, p.header) != nil) {
		at.Began = time.Now().UnixNano()
	}
	f.sink.Reset(at, p.all(f.ctx, f.mirror.leases.want))
	if p.err != nil {
		return fmt.Errorf("listing %s: %w", f.keys, p.err)
	}
	if f.listed {
		f.mirror.cfg.OnRelist(f.reason)
	}
	shrink(f.keys, f.at.Keys, p.count)
	at.Keys = p.count
	f.at, f.next, f.listed, f.relist = at, at.Revision+1, true, false
	if !confirmed {
		f.report(errNoQuorum)
		return errNoQuorum
	}
	f.confirmed()
	return nil
}

// shrink says loudly that a list brought far fewer keys than the one before. They are taken away all the same: etcd is
// the truth, also when somebody deleted half of it.
func shrink(keys Range, before, after int64) {
	if before >= 10 && after < before/2 {
		log.Warningf("New list of %s has %d keys, there were %d", keys, after, before)
	}
}

// pager reads a range in pages, all of the same revision.
type pager struct {
	client       *clientv3.Client
	keys         Range
	timing       Timing
	serializable bool // ask one member instead of the quorum
	keysOnly     bool
	revision     int64 // to read at; 0 takes that of the first page

	page   *clientv3.GetResponse // the one read last
	header *pb.ResponseHeader    // of the first page
	count  int64                 // of keys yielded
	err    error                 // what ended all before the end
}

// first reads the first page, and with it decides the revision.
func (p *pager) first(ctx context.Context) error {
	if err := p.read(ctx, p.keys.Start); err != nil {
		return err
	}
	p.header = p.page.Header
	if p.revision == 0 {
		p.revision = p.header.Revision
	}
	return nil
}

func (p *pager) read(ctx context.Context, start string) error {
	ctx, cancel := context.WithTimeout(ctx, p.timing.Call)
	defer cancel()
	opts := []clientv3.OpOption{
		clientv3.WithRange(p.keys.End), clientv3.WithLimit(p.timing.Page), clientv3.WithRev(p.revision),
	}
	if p.serializable {
		opts = append(opts, clientv3.WithSerializable())
	}
	if p.keysOnly {
		opts = append(opts, clientv3.WithKeysOnly())
	}
	page, err := p.client.Get(ctx, start, opts...)
	if err != nil {
		return err
	}
	if p.header != nil && page.Header.ClusterId != p.header.ClusterId {
		return fmt.Errorf("%w: ID %x and %x in one list", errCluster, page.Header.ClusterId, p.header.ClusterId)
	}
	p.page = page
	return nil
}

// all yields every key, the first page's, which must have been read, and those of the pages after it. What stops it
// before the end is yielded last, and kept in err. Each lease is told to seen.
func (p *pager) all(ctx context.Context, seen func(lease int64)) iter.Seq2[KV, error] {
	return func(yield func(KV, error) bool) {
		for {
			for _, kv := range p.page.Kvs {
				p.count++
				if kv.Lease != 0 {
					seen(kv.Lease)
				}
				if !yield(fromPB(kv), nil) {
					p.err = errors.New("the list was not read to its end")
					return
				}
			}
			if !p.page.More || len(p.page.Kvs) == 0 {
				return
			}
			last := p.page.Kvs[len(p.page.Kvs)-1].Key
			if p.err = p.read(ctx, string(last)+"\x00"); p.err != nil {
				yield(KV{}, p.err)
				return
			}
		}
	}
}

func fromPB(kv *mvccpb.KeyValue) KV {
	return KV{Key: string(kv.Key), Value: kv.Value, ModRevision: kv.ModRevision, Lease: kv.Lease}
}
