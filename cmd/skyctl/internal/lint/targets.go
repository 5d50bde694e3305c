package lint

import (
	"fmt"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

// targets looks at the names that records lead to.
func (d *data) targets() {
	for _, owner := range d.owners {
		for _, k := range d.byOwner[owner] {
			for _, rr := range k.RRs() {
				d.target(k, rr)
			}
		}
	}
}

func (d *data) target(k record.Key, rr dns.RR) {
	target, host := targetOf(rr)
	if target == "" || target == "." { // "." says on purpose that there is none: RFC 2782, RFC 7505
		return
	}
	path := skydns.PathOf(target)
	if path == k.Owner && k.Record.Kind() != skydns.Name {
		return // made of the key's own name
	}
	typ := dns.Type(rr.Header().Rrtype)
	if d.ours(path) && !d.known(path) {
		d.add(Warning, "dangling", k, fmt.Sprintf("%s leads to %s, which has no records", typ, target))
	}
	if _, alias := d.aliasOf(path); alias && host {
		d.add(Warning, "target-alias", k, fmt.Sprintf("%s leads to %s, which stands for another name", typ, target))
	}
}

// targetOf is the name that a record leads to, "" for none. host says that it must be a host's own name.
func targetOf(rr dns.RR) (target string, host bool) {
	switch rr := rr.(type) {
	case *dns.CNAME:
		return rr.Target, false
	case *dns.PTR:
		return rr.Ptr, false
	case *dns.MX:
		return rr.Mx, true
	case *dns.NS:
		return rr.Ns, true
	case *dns.SRV:
		return rr.Target, true
	}
	return "", false
}
