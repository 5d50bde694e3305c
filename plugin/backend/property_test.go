package backend

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// Whatever is kept and asked for, an answer can be packed, its RRsets are clean (RFC 2181, sections 5.2 and 10.1), and a
// negative one has a SOA record (RFC 2308, section 2).
func TestAnswersAreClean(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	label := func() string { return pick("a", "b", "c", "*", "any", "dns", "ns", "apex") }
	value := func() string {
		return pick(
			`{"host":"10.0.0.1"}`, `{"host":"10.0.0.2","ttl":7}`, `{"host":"::1","ttl":9}`, `{"host":"a.zone.test"}`,
			`{"host":"b.a.zone.test","ttl":5}`, `{"host":"c.other.test"}`, `{"host":"zone.test","targetstrip":1}`,
			`{"host":"x.example.org"}`, `{"host":"y.example.org","mail":true}`, `{"text":"t"}`, `{"host":"a.zone.test","text":"u"}`,
			`{"host":"10.0.0.3","port":80,"group":"g"}`, `{"host":"10.0.0.4","targetstrip":2}`, `{}`,
			`{"type":"NS","rdata":"a.b.zone.test."}`, `{"type":"NS","rdata":"n.example.","targetstrip":1}`,
			`{"type":"CAA","rdata":"0 issue \"x\""}`, `{"type":"CNAME","rdata":"c.zone.test."}`, `{"type":"A","rdata":"10.0.0.5"}`,
			`{"type":"SRV","rdata":"0 0 1 a.zone.test."}`, `{"host":"10.0.0.3","mail":true,"ttl":1}`)
	}
	outside := answers{
		"x.example.org. A": "x.example.org. 1 CNAME z.example.org.\nz.example.org. 9 A 9.9.9.9\nz.example.org. 2 A 9.9.9.8",
		"y.example.org. A": "NXDOMAIN", "y.example.org. AAAA": "SERVFAIL",
	}
	types := []string{"A", "AAAA", "CNAME", "SRV", "MX", "TXT", "PTR", "NS", "SOA", "CAA", "HINFO", "ANY", "DS"}
	for range 400 {
		var lines strings.Builder
		for range r.IntN(12) {
			path := pick("test/zone", "test/other", "test/zone/a")
			for range 1 + r.IntN(3) {
				path += "/" + label()
			}
			fmt.Fprintf(&lines, "/skydns/%s %s\n", path, value())
		}
		m := newMemory(t, []string{"zone.test.", "other.test.", "a.zone.test."}, lines.String())
		s := Defaults()
		if r.IntN(2) == 0 {
			s.Mode = Exact
		}
		for range 40 {
			name := pick("zone.test.", "other.test.", "A.zone.test.")
			for range r.IntN(4) {
				name = label() + "." + name
			}
			question := name + " " + pick(types...)
			res := ask(t, m, s, question, outside)
			if err := unclean(res); err != "" {
				t.Fatalf("%s in mode %d: %s\n%s\nrecords:%s", question, s.Mode, err, show(res), lines.String())
			}
		}
	}
}

// unclean says what is wrong with a reply, "" when nothing is.
func unclean(res Result) string {
	if res.Authoritative && res.Rcode != dns.RcodeServerFailure && len(res.Answer) == 0 &&
		(len(res.Ns) != 1 || res.Ns[0].Header().Rrtype != dns.TypeSOA) {
		return "no SOA record"
	}
	for _, section := range [][]dns.RR{res.Answer, res.Ns, res.Extra} {
		seen, ttls, cnames, others := map[string]bool{}, map[string]uint32{}, map[string]int{}, map[string]int{}
		for _, rr := range section {
			h := *rr.Header()
			owner := strings.ToLower(h.Name)
			set := owner + " " + dns.TypeToString[h.Rrtype]
			data := set + strings.ToLower(strings.TrimPrefix(rr.String(), rr.Header().String()))
			if seen[data] {
				return "twice: " + rr.String()
			}
			seen[data] = true
			// What is outside keeps its own TTLs in the answer section.
			if ttl, ok := ttls[set]; ok && ttl != h.Ttl && !strings.Contains(owner, "example.org") {
				return "two TTLs: " + set
			}
			ttls[set] = h.Ttl
			if h.Rrtype == dns.TypeCNAME {
				cnames[owner]++
			} else {
				others[owner]++
			}
			if cnames[owner] > 1 || cnames[owner] == 1 && others[owner] > 0 {
				return "CNAME beside other records of " + owner
			}
		}
	}
	for _, rr := range res.Answer {
		if h := rr.Header(); h.Rrtype == dns.TypeCNAME && strings.ToLower(h.Name) == "zone.test." {
			return "CNAME at an apex"
		}
	}
	return ""
}
