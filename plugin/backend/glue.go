package backend

import (
	"context"
	"strings"
	"sync"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// glue gathers what the additional section is made of: addresses that are known, and names whose addresses are to be
// found, in the order in which they come.
type glue struct {
	parts []part
	names distinct[string]
}

// part is one or the other.
type part struct {
	rr   dns.RR
	name string
}

func (g *glue) rr(rr dns.RR) { g.parts = append(g.parts, part{rr: rr}) }

func (g *glue) name(target string) {
	if target != "." && g.names.add(skydns.Lower(target)) {
		g.parts = append(g.parts, part{name: target})
	}
}

var families = [...]uint16{dns.TypeA, dns.TypeAAAA}

// addresses makes the additional section: A, then AAAA of each name, with CNAME records on the way. Names that no zone
// here holds are all looked up at the same time, and the answer goes out without those that are not found.
func (l *lookup) addresses(g *glue) []dns.RR {
	var found map[int]*answer // of the parts that are names
	if g.names.n > 0 {
		found = l.resolve(g)
	}
	s := section{rrs: make([]dns.RR, 0, len(g.parts))}
	for i, p := range g.parts {
		if p.rr != nil {
			s.add(p.rr)
			continue
		}
		a, ok := found[i]
		if !ok {
			continue
		}
		for f, family := range families {
			// A name without addresses at its end is no use to anybody.
			if n := len(a[f]); n > 0 && a[f][n-1].Header().Rrtype == family {
				for _, rr := range a[f] {
					s.add(rr)
				}
			}
		}
	}
	return s.records()
}

// answer is what was found of each family.
type answer [len(families)][]dns.RR

// resolve finds the addresses of the parts that are names.
func (l *lookup) resolve(g *glue) map[int]*answer {
	found := make(map[int]*answer)
	var outside sync.WaitGroup
	asked, total := 0, len(g.parts)
	for i, p := range g.parts {
		if p.name == "" {
			continue
		}
		if total > MaxRecords || l.steps.out {
			l.res.Cut = true
			break
		}
		a := new(answer)
		found[i] = a
		for f, family := range families {
			c := l.follow(p.name, family, true)
			a[f] = c.answer
			total += len(c.answer)
			if c.outside == "" || l.q.Outside == nil {
				continue
			}
			if asked++; asked > MaxOutside*len(families) {
				l.res.Cut = true
				continue
			}
			outside.Go(func() {
				a[f] = append(a[f], askAddresses(l.ctx, l.q.Outside, c.outside, family)...)
			})
		}
	}
	outside.Wait()
	return found
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
	rrs   []dns.RR
	seen  distinct[identity]
	mixed bool // not all TTLs are the same
}

type rrset struct {
	name   string // lower-cased
	rrtype uint16
}

// identity tells records apart.
type identity struct {
	rrset
	rdata string
}

func rrsetOf(rr dns.RR) rrset { return rrset{skydns.Lower(rr.Header().Name), rr.Header().Rrtype} }

func (s *section) add(rr dns.RR) {
	if !s.seen.add(identity{rrsetOf(rr), rdata(rr)}) {
		return
	}
	s.mixed = s.mixed || len(s.rrs) > 0 && s.rrs[0].Header().Ttl != rr.Header().Ttl
	s.rrs = append(s.rrs, rr)
}

// records returns the section. Records that came from elsewhere may be in use there, and are copied to be changed.
func (s *section) records() []dns.RR {
	if !s.mixed {
		return s.rrs
	}
	ttls := make(map[rrset]uint32, len(s.rrs))
	for _, rr := range s.rrs {
		set, ttl := rrsetOf(rr), rr.Header().Ttl
		if have, ok := ttls[set]; ok {
			ttl = min(ttl, have)
		}
		ttls[set] = ttl
	}
	for i, rr := range s.rrs {
		if ttl := ttls[rrsetOf(rr)]; rr.Header().Ttl != ttl {
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
		return skydns.Lower(rr.Target)
	}
	return strings.TrimPrefix(rr.String(), rr.Header().String())
}
