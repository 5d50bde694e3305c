package mirror

import "slices"

// Range is a run of keys: from Start, which belongs to it, to End, which does not. End "\x00" means that there is no
// end, as it does to etcd.
type Range struct {
	Start, End string
}

// noEnd is larger than every key, as the end of a range.
const noEnd = "\x00"

// Prefix is the range of all keys that begin with p.
func Prefix(p string) Range {
	start := p
	if p == "" {
		start = "\x00" // etcd has no empty key: this is the first that there can be
	}
	end := []byte(p)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return Range{start, string(end[:i+1])}
		}
	}
	return Range{start, noEnd}
}

// Single is the range of the one key k.
func Single(k string) Range { return Range{k, k + "\x00"} }

// Contains tells whether key belongs to r.
func (r Range) Contains(key string) bool {
	return key >= r.Start && (r.End == noEnd || key < r.End)
}

// Covers tells whether every key of o belongs to r.
func (r Range) Covers(o Range) bool {
	return o.Start >= r.Start && (r.End == noEnd || o.End != noEnd && o.End <= r.End)
}

// String shows a prefix as such, and everything else as an interval.
func (r Range) String() string {
	if r == Single(r.Start) {
		return r.Start
	}
	if r == Prefix(r.Start) {
		return r.Start + "*"
	}
	return "[" + r.Start + ", " + r.End + ")"
}

// MergeRanges returns ranges that hold the same keys, in order, of which no two share a key. Ranges that only touch stay
// apart: their rights may differ.
func MergeRanges(ranges []Range) []Range {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b Range) int {
		switch {
		case a.Start < b.Start, a.Start == b.Start && a != b && a.Covers(b):
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	merged := sorted[:0]
	for _, r := range sorted {
		n := len(merged)
		if n == 0 || !merged[n-1].Contains(r.Start) {
			merged = append(merged, r)
			continue
		}
		if last := &merged[n-1]; !last.Covers(r) {
			last.End = r.End
		}
	}
	return merged
}
