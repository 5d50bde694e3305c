// Package plan decides which keys are to be written and deleted, before anything is: it is pure, so that a dry run is the
// run without its last step.
package plan

import (
	"slices"
	"strings"

	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// Diff is what makes the keys of want out of have: puts of what is new or different, and, of the keys of have that doomed
// says so of, deletions. want may be in any order; of two with the same key the last counts. The changes are in the
// order of their keys.
func Diff(have, want []store.Entry, doomed func(store.Entry) bool) (changes []store.Change, same int) {
	old := make(map[string]*store.Entry, len(have))
	for i := range have {
		old[have[i].Key] = &have[i]
	}
	wanted := make(map[string]int, len(want))
	for i := range want {
		wanted[want[i].Key] = i
	}
	for i := range want {
		w := want[i]
		if wanted[w.Key] != i {
			continue
		}
		switch o := old[w.Key]; {
		case o != nil && o.Value == w.Value && sameLease(*o, w):
			same++
		default:
			changes = append(changes, store.Change{Old: o, New: &w})
		}
	}
	for i := range have {
		if _, ok := wanted[have[i].Key]; !ok && doomed(have[i]) {
			changes = append(changes, store.Change{Old: &have[i]})
		}
	}
	slices.SortFunc(changes, func(a, b store.Change) int { return strings.Compare(a.Key(), b.Key()) })
	return changes, same
}

// sameLease tells whether a key that is there lives as long as the one that is wanted.
func sameLease(have, want store.Entry) bool {
	if want.Lease != 0 {
		return have.Lease == want.Lease
	}
	return have.TTL == want.TTL
}

// Nothing dooms no key.
func Nothing(store.Entry) bool { return false }

// Count tells how many of the changes are new keys, changed ones and deletions.
func Count(changes []store.Change) (added, changed, deleted int) {
	for _, c := range changes {
		switch {
		case c.New == nil:
			deleted++
		case c.Old == nil:
			added++
		default:
			changed++
		}
	}
	return added, changed, deleted
}
