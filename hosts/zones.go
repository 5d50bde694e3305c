package hosts

import (
	"bytes"

	"github.com/trident-dns/trident/hosts/internal/table"
	"github.com/trident-dns/trident/hosts/internal/wire"
)

// zones are domain names in the form that questions have in tables, so that matching allocates nothing.
type zones []zone

type zone struct {
	text   string // presentation form, lower case, with the final dot
	wire   []byte
	labels int
}

// newZones converts normalized zone names. What is no domain name can match nothing and is left out.
func newZones(names []string) zones {
	z := make(zones, 0, len(names))
	for _, name := range names {
		if b, err := wire.Append(nil, name); err == nil {
			z = append(z, zone{name, b, wire.Labels(b)})
		}
	}
	return z
}

func (z *zone) contains(q *table.Question) bool {
	skip := q.Labels() - z.labels
	return skip >= 0 && bytes.Equal(q.Suffix(skip), z.wire)
}

// match returns the longest of the zones that contain q, nil when none does.
func (z zones) match(q *table.Question) *zone {
	var best *zone
	for i := range z {
		if z[i].contains(q) && (best == nil || z[i].labels > best.labels) {
			best = &z[i]
		}
	}
	return best
}

// contain reports whether q is in one of the zones.
func (z zones) contain(q *table.Question) bool {
	for i := range z {
		if z[i].contains(q) {
			return true
		}
	}
	return false
}

// above returns the number of labels of the shortest zone that contains q: names above q with fewer labels are in no
// zone. ok is false when q is in none itself.
func (z zones) above(q *table.Question) (labels int, ok bool) {
	for i := range z {
		if z[i].contains(q) && (!ok || z[i].labels < labels) {
			labels, ok = z[i].labels, true
		}
	}
	return labels, ok
}

// containName reports whether a name in wire format is in one of the zones.
func (z zones) containName(name []byte) bool {
	name = name[:wire.Len(name)]
	for i := range z {
		if z[i].labels == 0 {
			return true
		}
		n := len(name) - len(z[i].wire)
		if n < 0 || !bytes.Equal(name[n:], z[i].wire) {
			continue
		}
		for off := 0; off <= n; off += int(name[off]) + 1 { // the suffix must start at a label
			if off == n {
				return true
			}
		}
	}
	return false
}
