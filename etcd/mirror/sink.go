package mirror

import "iter"

// KV is one key as etcd holds it. The receiver owns it and may keep Value.
type KV struct {
	Key         string
	Value       []byte
	ModRevision int64 // of the last change of this key
	Lease       int64 // ID of the lease that the key hangs on, 0 without
}

// Position says what a copy is a copy of: a revision of one history of one cluster.
type Position struct {
	ClusterID uint64
	// RaftTerm never falls within one history. It tells a restored cluster that kept its ID from the one before.
	RaftTerm uint64
	// Revision is that of the last change that the copy may contain. 0: there is no copy.
	Revision int64
	// Keys is the number of keys of the copy.
	Keys int64
	// Began is when this history was first listed, by this process or by the one that left the snapshot which it went on
	// from, in nanoseconds since 1970. It tells which of two histories is the later one.
	Began int64
}

// Follows tells whether p may take the place of o: it is as far on in the same history, or of a history that was listed
// later.
func (p Position) Follows(o Position) bool {
	return p.ClusterID == o.ClusterID && p.Revision >= o.Revision || p.Began > o.Began
}

// Sink takes what a feed learns. Calls come one after the other from one goroutine, in the order of revisions; the
// watch waits meanwhile, so they should not take long.
type Sink interface {
	// Reset replaces all that was known by the keys of kvs, in byte order. at.Keys is not known yet and zero. kvs reads
	// from etcd while it is ranged over, once. When it yields an error, the last pair, the list could not be finished:
	// what was known before must stay. Reset must range to the end.
	Reset(at Position, kvs iter.Seq2[KV, error])

	// Apply makes the changes of one watch response visible, all at once. A key occurs once, in puts or in deletes, with
	// its last state.
	Apply(at Position, puts []KV, deletes []string)
}

// Viewer is a Sink that can show what it holds. The audit of its feed then compares key by key, where it otherwise
// counts.
type Viewer interface {
	Sink
	// View returns what a reader sees now: its position, and key and ModRevision of every key in byte order. It is called
	// from any goroutine; the sequence must not change while it is read.
	View() (Position, iter.Seq2[string, int64])
}
