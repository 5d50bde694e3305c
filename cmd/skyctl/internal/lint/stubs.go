package lint

import (
	"fmt"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

// stubs looks at stub zones: what the server leaves out, and what they hide of what is kept here, since they are asked
// before it.
func (d *data) stubs() {
	told := map[string]bool{}
	for _, k := range d.keys {
		if k.Role != record.Stub || k.Err != nil {
			continue
		}
		if kind := k.Record.Kind(); kind != skydns.IPv4 && kind != skydns.IPv6 {
			d.add(Error, "stub", k, "the server of a stub zone must be an address")
			continue
		}
		if k.Owner == k.Zone {
			d.add(Error, "stub", k, "the stub zone is the zone that keeps it: the server leaves it out")
			continue
		}
		if told[k.Owner] {
			continue
		}
		told[k.Owner] = true
		if n := d.below(k.Owner); n > 0 {
			d.add(Warning, "shadow", k, fmt.Sprintf("questions for the %d names kept here at and below %s go to the stub zone's servers", n, skydns.NameOf(k.Owner)))
		}
	}
}

// below counts the names with records at and below a path.
func (d *data) below(path string) int {
	n := 0
	for _, owner := range d.owners {
		if isWithin(owner, path) {
			n++
		}
	}
	return n
}
