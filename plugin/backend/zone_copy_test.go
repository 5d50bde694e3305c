package backend

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// dump writes the records of a copy down, sorted.
func dump(c Copy) []string {
	var lines []string
	c.Records(func(rrs []dns.RR) bool {
		for _, rr := range rrs {
			lines = append(lines, strings.ReplaceAll(strings.ReplaceAll(rr.String(), "\t", " "), " IN ", " "))
		}
		return true
	})
	slices.Sort(lines)
	return lines
}

func TestCopiesHaveEachRecordAtItsOwnName(t *testing.T) {
	records := `
		/skydns/test/zone/dns/apex/1 {"host":"10.0.0.1","text":"apex"}
		/skydns/test/zone/dns/ns/a {"host":"10.0.0.53"}
		/skydns/test/zone/db/a {"host":"10.0.1.1","port":5432,"priority":5}
		/skydns/test/zone/db/b {"host":"10.0.1.2","ttl":60}
		/skydns/test/zone/svc/x1 {"host":"svc.example.org","port":80,"text":"hi"}
		/skydns/test/zone/alias {"host":"db.zone.test"}
		/skydns/test/zone/mail {"host":"mx.example.org","mail":true}
		/skydns/test/zone/ext/1 {"host":"::1","targetstrip":1}
		/skydns/test/zone/*/w {"host":"10.0.2.1"}
		/skydns/test/zone/caa {"type":"CAA","rdata":"0 issue \"x\""}
		/skydns/test/zone/cut/n1 {"type":"NS","rdata":"in.cut.zone.test.","targetstrip":1}
		/skydns/test/zone/cut/in {"host":"10.0.3.1"}
		/skydns/test/zone/cut/hidden {"host":"10.0.3.2"}
		/skydns/test/zone/sub/dns/ns/a {"host":"10.0.4.53"}
		/skydns/test/zone/sub/x {"host":"10.0.4.1"}
		/skydns/test/zone/sub/y {"host":"10.0.4.2"}
		/skydns/test/zone2/x {"host":"10.0.5.1"}
		/skydns/test/zone-b {"host":"10.0.5.2"}`
	common := `
		zone.test. 300 A 10.0.0.1
		zone.test. 300 NS a.ns.dns.zone.test.
		zone.test. 300 TXT "apex"
		1.apex.dns.zone.test. 300 A 10.0.0.1
		1.apex.dns.zone.test. 300 TXT "apex"
		a.ns.dns.zone.test. 300 A 10.0.0.53
		a.db.zone.test. 300 A 10.0.1.1
		a.db.zone.test. 300 SRV 5 100 5432 a.db.zone.test.
		b.db.zone.test. 60 A 10.0.1.2
		x1.svc.zone.test. 300 SRV 10 100 80 svc.example.org.
		x1.svc.zone.test. 300 TXT "hi"
		alias.zone.test. 300 CNAME db.zone.test.
		mail.zone.test. 300 MX 10 mx.example.org.
		w.*.zone.test. 300 A 10.0.2.1
		caa.zone.test. 300 CAA 0 issue "x"
		cut.zone.test. 300 NS in.cut.zone.test.
		in.cut.zone.test. 300 A 10.0.3.1
		sub.zone.test. 300 NS a.ns.dns.sub.zone.test.
		a.ns.dns.sub.zone.test. 300 A 10.0.4.53`
	m := newMemory(t, []string{"zone.test.", "sub.zone.test."}, records)
	for mode, ext := range map[Mode]string{SkyDNS: "1.ext.zone.test. 300 AAAA ::1", Exact: "ext.zone.test. 300 AAAA ::1"} {
		s := Defaults()
		s.Mode = mode
		r := Resolver{s}
		wanted := strings.Split(want(common+"\n"+ext), "\n")
		slices.Sort(wanted)
		if got := dump(r.Copy(m, m.zones["zone.test."], m)); !slices.Equal(got, wanted) {
			t.Errorf("mode %d\ngot:\n%s\nwant:\n%s", mode, strings.Join(got, "\n"), strings.Join(wanted, "\n"))
		}
	}
	r := Resolver{Defaults()}
	if soa := r.Copy(m, m.zones["zone.test."], m).SOA().(*dns.SOA); soa.Serial != 7 || soa.Hdr.Name != "zone.test." {
		t.Errorf("got %v", soa)
	}
}

// No server takes a zone without name servers.
func TestCopiesOfZonesWithoutNameServersHaveOne(t *testing.T) {
	m := newMemory(t, []string{"zone.test.", "2.0.10.in-addr.arpa."}, `
		/skydns/test/zone/a {"host":"10.0.0.1"}
		/skydns/arpa/in-addr/10/0/2/1 {"host":"a.zone.test"}`)
	r := Resolver{Defaults()}
	r.SOA.MName = "ns.example.org."
	for zone, wanted := range map[string]string{
		"zone.test.":           "a.zone.test. 300 A 10.0.0.1 zone.test. 300 NS ns.example.org.",
		"2.0.10.in-addr.arpa.": "1.2.0.10.in-addr.arpa. 300 PTR a.zone.test. 2.0.10.in-addr.arpa. 300 NS ns.example.org.",
	} {
		if got := strings.Join(dump(r.Copy(m, m.zones[zone], m)), " "); got != wanted {
			t.Errorf("%s: got %s, want %s", zone, got, wanted)
		}
	}
}

// Whoever has one state and is told the difference has the other, record by record (RFC 1995, section 4).
func TestDifferencesLeadFromOneCopyToAnother(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	pick := func(s ...string) string { return s[rnd.IntN(len(s))] }
	value := func() string {
		return pick(
			`{"host":"10.0.0.1"}`, `{"host":"10.0.0.2","ttl":7,"port":1}`, `{"host":"::1","ttl":9}`, `{"host":"a.zone.test"}`,
			`{"host":"c.other.test","port":3}`, `{"host":"zone.test","targetstrip":1}`, `{"host":"y.example.org","mail":true}`,
			`{"text":"t"}`, `{"host":"a.zone.test","text":"u"}`, `{"host":"10.0.0.3","port":80,"group":"g","weight":7}`,
			`{"host":"10.0.0.4","targetstrip":2}`, `{}`, `{"type":"NS","rdata":"a.b.zone.test."}`,
			`{"type":"NS","rdata":"n.example.","targetstrip":1}`, `{"type":"CAA","rdata":"0 issue \"x\""}`,
			`{"type":"CNAME","rdata":"c.zone.test."}`, `{"type":"DS","rdata":"1 8 2 00"}`, `{"type":"SRV","rdata":"0 0 1 a.zone.test."}`)
	}
	zones := []string{"zone.test.", "a.zone.test."}
	whole := 0
	for range 3000 {
		records := map[string]string{}
		var touched []string
		change := func() {
			path := pick("test/zone", "test/zone", "test/zone/a", "test/zone/dns")
			for range rnd.IntN(4) {
				path += "/" + pick("a", "b", "*", "ns", "apex", "dns", "stub")
			}
			touched = append(touched, path)
			if rnd.IntN(4) == 0 {
				delete(records, path)
				return
			}
			records[path] = value()
		}
		state := func() *memory {
			var lines strings.Builder
			for path, v := range records {
				fmt.Fprintf(&lines, "/skydns/%s %s\n", path, v)
			}
			return newMemory(t, zones, lines.String())
		}
		for range rnd.IntN(15) {
			change()
		}
		r := Resolver{Defaults()}
		r.Mode = Mode(rnd.IntN(2))
		m := state()
		before := r.Copy(m, m.zones["zone.test."], m)
		touched = nil
		for range 1 + rnd.IntN(4) {
			change()
		}
		m = state()
		after := r.Copy(m, m.zones["zone.test."], m)
		lost, got, ok := Diff(before, after, touched)
		if !ok {
			whole++
			continue
		}
		have := map[string]int{}
		for _, line := range dump(before) {
			have[line]++
		}
		for i, rrs := range [][]dns.RR{lost, got} {
			for _, rr := range rrs {
				have[strings.ReplaceAll(strings.ReplaceAll(rr.String(), "\t", " "), " IN ", " ")] += 2*i - 1
			}
		}
		for line, n := range have {
			if n == 0 {
				delete(have, line)
			} else if n != 1 {
				t.Fatalf("%d times: %s\nrecords: %v", n, line, records)
			}
		}
		if result := slices.Sorted(maps.Keys(have)); !slices.Equal(result, dump(after)) {
			t.Fatalf("mode %d, touched %v\nhas:\n%s\nwant:\n%s\nrecords: %v", r.Mode, touched,
				strings.Join(result, "\n"), strings.Join(dump(after), "\n"), records)
		}
		if err := unclean(Result{Extra: recordsOf(after)}); err != "" {
			t.Fatalf("%s\n%s", err, strings.Join(dump(after), "\n"))
		}
	}
	if whole > 2000 {
		t.Errorf("%d of 3000 differences were not told name by name", whole)
	}
}

func recordsOf(c Copy) (all []dns.RR) {
	c.Records(func(rrs []dns.RR) bool {
		all = append(all, rrs...)
		return true
	})
	return all
}
