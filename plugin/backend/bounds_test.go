package backend

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
)

// One question may not cost more than the answer it can get: every walk ends, and says that it did.
func TestWalksEnd(t *testing.T) {
	var lines strings.Builder
	for i := range MaxRecords + 10 {
		fmt.Fprintf(&lines, "/skydns/test/zone/many/%05d {\"host\":\"10.%d.%d.%d\"}\n", i, i>>16, i>>8&255, i&255)
	}
	for i := range MaxSteps + 10 {
		fmt.Fprintf(&lines, "/skydns/test/zone/text/%05d {\"text\":\"x\"}\n", i)
	}
	m := newMemory(t, []string{"zone.test."}, lines.String())
	r := Resolver{Defaults()}
	for name, want := range map[string]int{"many.zone.test.": MaxRecords, "text.zone.test.": 0, "text.*.zone.test.": 0} {
		res := r.Lookup(context.Background(), m, Question{Name: name, Type: dns.TypeA})
		if len(res.Answer) != want || !res.Cut {
			t.Errorf("%s: %d records, cut %t, want %d", name, len(res.Answer), res.Cut, want)
		}
	}
	if res := r.Lookup(context.Background(), m, Question{Name: "00001.many.zone.test.", Type: dns.TypeA}); res.Cut {
		t.Error("a name with one record was cut")
	}
}

// What does not fit is not looked for: the client comes back over TCP.
func TestWalksEndWhenTheClientHasEnough(t *testing.T) {
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "/skydns/test/zone/a%03d {\"host\":\"::%x\"}\n/skydns/test/zone/many/%03d {\"host\":\"10.0.%d.%d\"}\n",
			i, i, i, i>>8, i&255)
	}
	m := newMemory(t, []string{"zone.test."}, lines.String())
	r := Resolver{Defaults()}
	for _, tt := range []struct {
		name      string
		size      int
		records   int
		truncated bool
	}{
		{"many.zone.test.", 512, 512/minRecord + 1, true},
		{"many.zone.test.", 0, 1000, false},
		{"zone.test.", 512, 512/minRecord + 1, true}, // the first thousand keys are of the other family
		{"001.many.zone.test.", 512, 1, false},
	} {
		res := r.Lookup(context.Background(), m, Question{Name: tt.name, Type: dns.TypeA, Size: tt.size})
		if len(res.Answer) != tt.records || res.Truncated != tt.truncated || res.Cut {
			t.Errorf("%s in %d bytes: %d records, truncated %t, cut %t", tt.name, tt.size, len(res.Answer), res.Truncated, res.Cut)
		}
	}
}

func TestChainsEnd(t *testing.T) {
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintf(&lines, "/skydns/test/zone/c%d {\"host\":\"c%d.zone.test\"}\n", i, i+1)
	}
	lines.WriteString(`/skydns/test/zone/c30 {"host":"10.0.0.1"}` + "\n")
	m := newMemory(t, []string{"zone.test."}, lines.String())
	r := Resolver{Defaults()}
	res := r.Lookup(context.Background(), m, Question{Name: "c0.zone.test.", Type: dns.TypeA})
	if len(res.Answer) != MaxChain+1 || res.Rcode != dns.RcodeSuccess {
		t.Errorf("%d records of a long chain, rcode %d, want %d", len(res.Answer), res.Rcode, MaxChain+1)
	}
	res = r.Lookup(context.Background(), m, Question{Name: "c22.zone.test.", Type: dns.TypeA})
	if len(res.Answer) != 9 {
		t.Errorf("%d records of a chain that is not too long, want 9", len(res.Answer))
	}
}

// A name whose targets are names with as many targets would be followed for ever.
func TestMergingEnds(t *testing.T) {
	var lines strings.Builder
	for i := range 20 {
		for j := range 20 {
			fmt.Fprintf(&lines, "/skydns/test/zone/n%d/%d {\"host\":\"n%d.zone.test\"}\n", i, j, j)
		}
	}
	m := newMemory(t, []string{"zone.test."}, lines.String())
	r := Resolver{Defaults()}
	if res := r.Lookup(context.Background(), m, Question{Name: "n1.zone.test.", Type: dns.TypeA}); !res.Cut {
		t.Errorf("not cut: %s", show(res))
	}
}

func TestNamesOutsideAreBounded(t *testing.T) {
	var lines strings.Builder
	for i := range 3 * MaxOutside {
		fmt.Fprintf(&lines, "/skydns/test/zone/svc/%02d {\"host\":\"h%02d.example.org\",\"port\":1}\n", i, i)
	}
	m := newMemory(t, []string{"zone.test."}, lines.String())
	r := Resolver{Defaults()}
	for _, qtype := range []uint16{dns.TypeSRV, dns.TypeA} {
		var asked atomic.Int32
		outside := func(_ context.Context, name string, qtype uint16) (*dns.Msg, error) {
			asked.Add(1)
			reply := new(dns.Msg)
			reply.SetQuestion(name, qtype)
			rr, err := dns.NewRR(name + " 60 A 192.0.2.1" + name[1:3])
			reply.Answer = []dns.RR{rr}
			return reply, err
		}
		res := r.Lookup(context.Background(), m, Question{Name: "svc.zone.test.", Type: qtype, Outside: outside})
		if got := int(asked.Load()); got > 2*MaxOutside || got == 0 || !res.Cut || len(res.Answer) == 0 {
			t.Errorf("%s: asked %d times, cut %t, %d records", dns.TypeToString[qtype], got, res.Cut, len(res.Answer))
		}
	}
}

// E5, and RFC 8020: what is kept for the apex, or its absence, is found without the rest of the zone.
func TestE5ApexDoesNotReadTheZone(t *testing.T) {
	var lines strings.Builder
	for i := range MaxSteps + 10 {
		fmt.Fprintf(&lines, "/skydns/test/zone/many/%05d {\"host\":\"10.0.0.1\"}\n", i)
	}
	for _, apex := range []bool{false, true} {
		text := lines.String()
		if apex {
			text += `/skydns/test/zone/dns/apex/1 {"host":"10.0.0.9"}`
		}
		m := newMemory(t, []string{"zone.test."}, text)
		s := Defaults()
		s.NoApexFallback = true
		r := Resolver{s}
		for _, qtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeNS, dns.TypeCAA} {
			if res := r.Lookup(context.Background(), m, Question{Name: "zone.test.", Type: qtype}); res.Cut {
				t.Errorf("apex records %t: %s reads the zone", apex, dns.TypeToString[qtype])
			}
		}
	}
}

// A name and what is below it are one run of keys, but for names such as NAME-1, which sort between them.
func TestNamesBetweenANameAndWhatIsBelowIt(t *testing.T) {
	m := newMemory(t, []string{"zone.test."}, `
		/skydns/test/zone/a {"host":"10.0.0.1"}
		/skydns/test/zone/a-1 {"host":"10.0.0.2"}
		/skydns/test/zone/a-1/x {"host":"10.0.0.3"}
		/skydns/test/zone/a/x {"host":"10.0.0.4"}
		/skydns/test/zone/a0 {"host":"10.0.0.5"}
		/skydns/test/zone/b-1 {"host":"10.0.0.6"}
		/skydns/test/zone/b/x {"host":"10.0.0.7"}
		/skydns/test/zone/c {"host":"10.0.0.8"}
		/skydns/test/zone/c-1 {"host":"10.0.0.9"}`)
	for name, addresses := range map[string]string{
		"a": "10.0.0.1 10.0.0.4", "a-1": "10.0.0.2 10.0.0.3", "a0": "10.0.0.5", "b": "10.0.0.7", "c": "10.0.0.8",
	} {
		var got []string
		for _, rr := range ask(t, m, Defaults(), name+".zone.test. A", nil).Answer {
			got = append(got, rr.(*dns.A).A.String())
		}
		if strings.Join(got, " ") != addresses {
			t.Errorf("%s: got %v, want %s", name, got, addresses)
		}
	}
}
