// Package store reads and writes records in etcd: pages pinned to one revision, guarded transactions of bounded size,
// changes as they happen. It knows keys and values, and nothing of DNS.
package store

import "errors"

// The errors of this package that callers tell apart. What etcd itself says is wrapped beside them.
var (
	// ErrChanged says that a key was written by somebody else after it was read. Nothing of that transaction was written.
	ErrChanged = errors.New("changed by somebody else meanwhile")
	// ErrCompacted says that a watch fell behind what etcd keeps of its history.
	ErrCompacted = errors.New("etcd has discarded the changes since then")
	// ErrTooLarge says that one key and its value do not fit into a request.
	ErrTooLarge = errors.New("too large for one request to etcd")
)

// Entry is a key with its value.
type Entry struct {
	Key   string
	Value string
	// TTL is that of the lease that the key hangs on, in seconds as it was granted. 0: no lease.
	TTL int64
	// Lease is the lease's ID as etcd has it. 0 in an entry that is to be written: a lease is granted for TTL.
	Lease int64
	// Revision of the key's last change. 0 in an entry that is to be written.
	Revision int64
}

// Change is what is to happen to one key: Old is what was read, nil for none, and New what is to be written, nil to
// delete. The two have the same key.
type Change struct {
	Old, New *Entry
}

// Key is the key that changes.
func (c Change) Key() string {
	if c.New != nil {
		return c.New.Key
	}
	return c.Old.Key
}
