package mirror

import "go.etcd.io/etcd/api/v3/mvccpb"

// batch is what a run of events amounts to.
type batch struct {
	revision int64 // of the last event
	growth   int64 // in number of keys
	puts     []KV
	deletes  []string
}

// newBatch folds events, oldest first, into the last state of each key that they touch.
func newBatch(events []*mvccpb.Event) batch {
	var b batch
	last := make(map[string]int, len(events))
	for i, ev := range events {
		last[string(ev.Kv.Key)] = i
		switch {
		case ev.Type == mvccpb.Event_DELETE:
			b.growth-- // etcd has no event for deleting nothing
		case ev.Kv.CreateRevision == ev.Kv.ModRevision:
			b.growth++
		}
		b.revision = max(b.revision, ev.Kv.ModRevision)
	}
	for i, ev := range events {
		switch {
		case last[string(ev.Kv.Key)] != i:
		case ev.Type == mvccpb.Event_DELETE:
			b.deletes = append(b.deletes, string(ev.Kv.Key))
		default:
			b.puts = append(b.puts, fromPB(ev.Kv))
		}
	}
	return b
}
