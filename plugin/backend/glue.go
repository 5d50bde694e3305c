package backend

import (
	"context"
	"strings"
	"sync"

	"github.com/miekg/dns"
)

// glue gathers what the additional section is made of: addresses that are known, and names whose addresses are to be
// found, in the order in which they come.
type glue struct {
	parts []part
	names distinct
}

// part is one or the other.
type part struct {
	rr   dns.RR
	name string
}

func (g *glue) rr(rr dns.RR) { g.parts = append(g.parts, part{rr: rr}) }

func (g *glue) name(target string) {
	if target != "." && g.names.add(dns.CanonicalName(target)) {
		g.parts = append(g.parts, part{name: target})
	}
}

var families = [...]uint16{dns.TypeA, dns.TypeAAAA}

// addresses makes the additional section: A, then AAAA of each name, with CNAME records on the way. Names that no zone
// here holds are all looked up at the same time, and the answer goes out without those that are not found.
func (l *lookup) addresses(g *glue) []dns.RR {
	found := make([][len(families)][]dns.RR, len(g.parts))
	var outside sync.WaitGroup
	asked := 0
	total := 0
	for i, p := range g.parts {
		if p.name == "" {
			total++
			continue
		}
		if total > MaxRecords {
			l.res.Cut = true
			break
		}
		for f, family := range families {
			c := l.follow(p.name, family, true)
			found[i][f] = c.answer
			total += len(c.answer)
			if c.outside == "" || l.q.Outside == nil {
				continue
			}
			if asked++; asked > MaxOutside*len(families) {
				l.res.Cut = true
				continue
			}
			outside.Go(func() {
				found[i][f] = append(found[i][f], askAddresses(l.ctx, l.q.Outside, c.outside, family)...)
			})
		}
	}
	outside.Wait()
	var s section
	for i, p := range g.parts {
		if p.rr != nil {
			s.add(p.rr)
			continue
		}
		for f := range families {
			// A name without addresses at its end is no use to anybody.
			if n := len(found[i][f]); n > 0 && found[i][f][n-1].Header().Rrtype == families[f] {
				for _, rr := range found[i][f] {
					s.add(rr)
				}
			}
		}
	}
	return s.records()
}

// askAddresses looks up the addresses of a name elsewhere.
func askAddresses(
	ctx context.Context, ask func(context.Context, string, uint16) (*dns.Msg, error), name string, family uint16,
) []dns.RR {
	m, err := ask(ctx, name, family)
	if err != nil || m == nil {
		return nil
	}
	rrs := make([]dns.RR, 0, len(m.Answer))
	for _, rr := range m.Answer {
		if t := rr.Header().Rrtype; t == family || t == dns.TypeCNAME {
			rrs = append(rrs, rr)
		}
	}
	return rrs
}

// section is a section of a message without duplicates, where each RRset has one TTL.
type section struct {
	rrs  []dns.RR
	seen distinct
	ttls map[rrset]uint32 // the least of each
}

type rrset struct {
	name   string // lower-cased
	rrtype uint16
}

func rrsetOf(rr dns.RR) rrset { return rrset{strings.ToLower(rr.Header().Name), rr.Header().Rrtype} }

func (s *section) add(rr dns.RR) {
	set := rrsetOf(rr)
	if !s.seen.add(set.name + " " + rdata(rr)) {
		return
	}
	if s.ttls == nil {
		s.ttls = make(map[rrset]uint32)
	}
	if ttl, ok := s.ttls[set]; !ok || rr.Header().Ttl < ttl {
		s.ttls[set] = rr.Header().Ttl
	}
	s.rrs = append(s.rrs, rr)
}

// records returns the section. Records that came from elsewhere may be in use there, and are copied to be changed.
func (s *section) records() []dns.RR {
	for i, rr := range s.rrs {
		if ttl := s.ttls[rrsetOf(rr)]; rr.Header().Ttl != ttl {
			s.rrs[i] = dns.Copy(rr)
			s.rrs[i].Header().Ttl = ttl
		}
	}
	return s.rrs
}

// rdata is a string that tells records of one owner apart.
func rdata(rr dns.RR) string {
	switch rr := rr.(type) {
	case *dns.A:
		return string(rr.A)
	case *dns.AAAA:
		return string(rr.AAAA)
	case *dns.CNAME:
		return dns.CanonicalName(rr.Target)
	}
	return strings.TrimPrefix(rr.String(), rr.Header().String())
}
