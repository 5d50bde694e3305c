// Package index keeps the records of one zone, as a mirror of etcd learns of them, in the form that questions are answered
// from.
//
// An Index is filled through its sinks and read through its Snapshot: one immutable state, swapped as a whole for each
// response of a watch, read without locks. A reader holds on to the snapshot that it began with.
//
// A snapshot is a B+ tree of records by path, copied along the way from the root to what changes. Paths sort as the keys
// of etcd do, so that a name is one search and what lies below it one run of leaves.
package index
