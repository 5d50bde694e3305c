package lint

import (
	"fmt"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/plugin/backend"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

// names looks at the records of each name together.
func (d *data) names() {
	for _, owner := range d.owners {
		d.alias(owner)
		d.sets(owner)
		d.chain(owner)
	}
}

// alias finds names that stand for another one and have other records, or several.
func (d *data) alias(owner string) {
	aliases, others := 0, 0
	var at record.Key
	for _, k := range d.byOwner[owner] {
		for _, rr := range k.RRs() {
			if rr.Header().Rrtype == dns.TypeCNAME {
				aliases++
				at = k
			} else {
				others++
			}
		}
	}
	switch {
	case aliases > 0 && others > 0:
		d.add(Warning, "alias", at, "the name stands for another one and has other records, too: the server answers with the addresses of both")
	case aliases > 1:
		d.add(Warning, "alias", at, fmt.Sprintf("the name stands for %d others: the server answers with the addresses of all", aliases))
	}
}

// sets finds records that are there twice, and RRsets of several TTLs (RFC 2181, sections 5 and 5.2).
func (d *data) sets(owner string) {
	first := map[string]string{} // key of a record
	ttls := map[uint16]uint32{}
	told := map[uint16]bool{}
	for _, k := range d.byOwner[owner] {
		for _, rr := range k.RRs() {
			h := rr.Header()
			if skydns.PathOf(h.Name) != owner {
				continue // the address of a name server
			}
			id := dns.Type(h.Rrtype).String() + " " + record.RData(rr)
			if other, ok := first[id]; ok {
				d.add(Warning, "duplicate", k, fmt.Sprintf("%s is kept at %s, too", id, other))
			} else {
				first[id] = k.Key
			}
			if ttl, ok := ttls[h.Rrtype]; ok && ttl != h.Ttl && !told[h.Rrtype] {
				told[h.Rrtype] = true
				d.add(Warning, "ttl", k, fmt.Sprintf("%s records of this name have TTLs of %d and %d seconds: the least is used", dns.Type(h.Rrtype), ttl, h.Ttl))
			}
			ttls[h.Rrtype] = h.Ttl
		}
	}
}

// chain follows the names that a name stands for.
func (d *data) chain(owner string) {
	seen := map[string]bool{owner: true}
	path, ok := d.aliasOf(owner)
	for hops := 1; ok; hops++ {
		k := d.byOwner[owner][0]
		switch {
		case path == owner:
			d.add(Error, "loop", k, fmt.Sprintf("the name stands for itself, over %d names", hops))
			return
		case seen[path]:
			return // it leads into a circle, which is told of the names in it
		case hops > backend.MaxChain:
			d.add(Error, "long-chain", k, fmt.Sprintf("the name stands for others further than the %d that the server follows", backend.MaxChain))
			return
		}
		seen[path] = true
		path, ok = d.aliasOf(path)
	}
}
