package mirror

import "go.etcd.io/etcd/api/v3/mvccpb"

// batch is what a run of events amounts to.
type batch struct {
	revision int64 // of the last event
	growth   int64 // in number of keys
	puts     []KV
	deletes  []string
}

// newBatch folds events, oldest first, into the last state of each key that they touch. A key that came and went in
// between does not occur.
func newBatch(events []*mvccpb.Event) batch {
	type span struct{ first, last int }
	spans := make(map[string]span, len(events))
	var b batch
	for i, ev := range events {
		s, seen := spans[string(ev.Kv.Key)]
		if !seen {
			s.first = i
		}
		s.last = i
		spans[string(ev.Kv.Key)] = s
		switch {
		case isDelete(ev):
			b.growth-- // etcd has no event for deleting nothing
		case isCreate(ev):
			b.growth++
		}
		b.revision = max(b.revision, ev.Kv.ModRevision)
	}
	for i, ev := range events {
		s := spans[string(ev.Kv.Key)]
		switch {
		case s.last != i:
		case !isDelete(ev):
			b.puts = append(b.puts, fromPB(ev.Kv))
		case !isCreate(events[s.first]):
			b.deletes = append(b.deletes, string(ev.Kv.Key))
		}
	}
	return b
}

func isDelete(ev *mvccpb.Event) bool { return ev.Type == mvccpb.Event_DELETE }

func isCreate(ev *mvccpb.Event) bool {
	return !isDelete(ev) && ev.Kv.CreateRevision == ev.Kv.ModRevision
}
