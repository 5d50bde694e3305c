package main

import (
	"context"
	"net/netip"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/form"
	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// reverse is what changes of PTR records when the addresses of gone are no longer there and those of wants are: PTR
// records from addresses back to the names that had them go, and new ones come.
func (a *app) reverse(ctx context.Context, client *store.Client, gone []record.Key, wants []plan.Want, ttl uint32) ([]store.Change, error) {
	stays := map[string]bool{} // PTR records that are wanted: reverse name, space, name
	reverses := map[string]bool{}
	var come []plan.Want
	for _, w := range wants {
		if addr, ok := addressOf(w.RR); ok {
			back := record.ReverseName(addr)
			name := dns.CanonicalName(w.RR.Header().Name)
			reverses[back] = true
			if !stays[back+" "+name] {
				stays[back+" "+name] = true
				come = append(come, plan.Want{RR: form.PTRRR(name, back), TTL: ttl, Lease: w.Lease, Origin: w.Origin})
			}
		}
	}
	left := map[string]bool{} // those that lost their address
	for _, k := range gone {
		for _, rr := range k.RRs() {
			if addr, ok := addressOf(rr); ok {
				back := record.ReverseName(addr)
				reverses[back] = true
				left[back+" "+dns.CanonicalName(rr.Header().Name)] = true
			}
		}
	}
	if len(reverses) == 0 {
		return nil, nil
	}
	names := make([]string, 0, len(reverses))
	for name := range reverses {
		names = append(names, name)
	}
	have, err := a.below(ctx, client, names...)
	if err != nil {
		return nil, err
	}
	arranger := plan.Arranger{Prefix: a.keys(), Have: have}
	entries, _ := arranger.Arrange(come) // a PTR record of two names that exist is never refused
	doomed := func(e store.Entry) bool {
		k := record.Read(a.keys(), e)
		for _, rr := range k.RRs() {
			ptr, ok := rr.(*dns.PTR)
			if !ok {
				continue
			}
			pair := skydns.NameOf(k.Owner) + " " + dns.CanonicalName(ptr.Ptr)
			if left[pair] && !stays[pair] {
				return true
			}
		}
		return false
	}
	changes, _ := plan.Diff(entriesOf(have), entries, doomed)
	return changes, nil
}

func addressOf(rr dns.RR) (netip.Addr, bool) {
	switch rr := rr.(type) {
	case *dns.A:
		addr, ok := netip.AddrFromSlice(rr.A)
		return addr.Unmap(), ok
	case *dns.AAAA:
		return netip.AddrFromSlice(rr.AAAA)
	}
	return netip.Addr{}, false
}
