package backend

import (
	"sync"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// aliases are the names that a name stands for.
type aliases struct {
	targets []string // no two the same
	via     []*skydns.Record
	// single: there is one, and no address beside it, so that it can be a CNAME record (RFC 1034, section 3.6.2).
	single bool
}

// aliases finds them.
func (w *walk) aliases() aliases {
	var a aliases
	var seen distinct[string]
	addresses := false
	for _, it := range w.items {
		host := it.Target()
		switch rr := it.RR().(type) {
		case *dns.A, *dns.AAAA:
			addresses = true
		case *dns.CNAME:
			host = rr.Target
		}
		if k := it.Kind(); k == skydns.IPv4 || k == skydns.IPv6 {
			addresses = true
		}
		if host == "" || w.isOwn(host) || !seen.add(skydns.Lower(host)) {
			continue
		}
		a.targets, a.via = append(a.targets, host), append(a.via, it.Record)
	}
	a.single = len(a.targets) == 1 && !addresses
	return a
}

// merge adds the records that several targets lead to, as records of name: a name may have one CNAME record at most
// (RFC 2181, section 10.1), and each of the targets is meant to be reached. Targets that no zone here holds are left for
// mergeOutside when there is nothing else. Text of a name's own is all of its text.
func (l *lookup) merge(c *chain, own []dns.RR, a aliases, name string, qtype uint16, glue bool) []dns.RR {
	if len(a.targets) == 0 || len(own) > 0 && qtype != dns.TypeA && qtype != dns.TypeAAAA {
		return own
	}
	s := section{}
	for _, rr := range own {
		s.add(rr)
	}
	var outside []string
	for i, target := range a.targets {
		if l.merged++; l.merged > MaxMerged || len(s.rrs) > MaxRecords {
			l.res.Cut = true
			break
		}
		sub := l.follow(target, qtype, glue)
		s.addAs(name, qtype, l.ttl(a.via[i]), sub.answer)
		switch {
		case sub.outside != "":
			outside = append(outside, sub.outside)
		case len(sub.merge) > 0:
			outside = append(outside, sub.merge...)
		}
	}
	if len(s.rrs) == 0 && l.q.Outside != nil && !glue {
		c.merge, c.owner = outside, name
	}
	return s.records()
}

// addAs adds the records of one type as those of another owner. Their TTL is no more than ttl, nor than that of any
// CNAME record on the way.
func (s *section) addAs(owner string, qtype uint16, ttl uint32, rrs []dns.RR) {
	for _, rr := range rrs {
		ttl = min(ttl, rr.Header().Ttl)
	}
	for _, rr := range rrs {
		if rr.Header().Rrtype == qtype {
			rr = dns.Copy(rr)
			rr.Header().Name, rr.Header().Ttl = owner, ttl
			s.add(rr)
		}
	}
}

// mergeOutside adds what is known elsewhere about the targets that c ended with, all asked for at the same time.
func (l *lookup) mergeOutside(c chain) {
	if len(c.merge) > MaxOutside {
		c.merge = c.merge[:MaxOutside]
		l.res.Cut = true
	}
	replies := make([]*dns.Msg, len(c.merge))
	var asked sync.WaitGroup
	for i, target := range c.merge {
		asked.Go(func() { replies[i], _ = l.q.Outside(l.ctx, target, l.q.Type) })
	}
	asked.Wait()
	var s section
	failed := false
	for _, m := range replies {
		if m == nil || m.Rcode == dns.RcodeServerFailure {
			failed = true
			continue
		}
		l.res.Truncated = l.res.Truncated || m.Truncated
		s.addAs(c.owner, l.q.Type, skydns.MaxTTL, m.Answer)
	}
	l.res.Answer = append(l.res.Answer, s.records()...)
	switch {
	case len(s.rrs) > 0:
	case failed:
		l.res.Rcode = dns.RcodeServerFailure
	default:
		zone, store := l.view.Zone(skydns.Lower(c.owner))
		l.negative(zone, store, true)
	}
}
