package backend

import (
	"context"
	"strings"
	"testing"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// E25: what people need to set is set, and the TTL of a negative answer is the least of what may bound it (RFC 2308,
// section 5).
func TestE25SOA(t *testing.T) {
	for _, tt := range []struct {
		change func(*Settings, *Question)
		want   string
	}{
		{func(*Settings, *Question) {}, "zone.test.\t30\tIN\tSOA\tns.dns.zone.test. hostmaster.zone.test. 7 7200 1800 86400 30"},
		{func(s *Settings, _ *Question) {
			s.SOA = SOA{MName: "ns.a.", RName: "x.b.", Refresh: 1, Retry: 2, Expire: 3}
			s.NegativeTTL = 3600
		}, "zone.test.\t300\tIN\tSOA\tns.a. x.b. 7 1 2 3 3600"},
		{func(s *Settings, q *Question) { s.NegativeTTL, q.MaxTTL = 60, 30 },
			"zone.test.\t30\tIN\tSOA\tns.dns.zone.test. hostmaster.zone.test. 7 7200 1800 86400 60"},
	} {
		s, q := Defaults(), Question{Name: "none.zone.test.", Type: dns.TypeA}
		tt.change(&s, &q)
		r := Resolver{s}
		m := newMemory(t, []string{"zone.test."}, "")
		if res := r.Lookup(context.Background(), m, q); len(res.Ns) != 1 || res.Ns[0].String() != tt.want {
			t.Errorf("got %v, want %s", res.Ns, tt.want)
		}
		q.Name, q.Type = "Zone.test.", dns.TypeSOA
		if res := r.Lookup(context.Background(), m, q); len(res.Answer) != 1 || res.Answer[0].String() != tt.want {
			t.Errorf("got %v, want %s", res.Answer, tt.want)
		}
	}
}

// RFC 1035, section 2.3.4: with the labels of the defaults before it the name of a long zone would have more than 255
// octets, and nobody could read the reply.
func TestSOAOfAZoneWithALongNameCanBeSent(t *testing.T) {
	for _, spare := range []int{0, 1, 6, 7, 8, 10, 11, 12} {
		// On the wire, "test." has 6 octets, and a label as many as its letters and one.
		zone := strings.Repeat(strings.Repeat("a", 49)+".", 4)
		zone += strings.Repeat("b", 255-spare-6-4*50-1) + ".test."
		for _, question := range []string{zone + " SOA", zone + " A"} {
			m := newMemory(t, []string{zone}, "")
			res := ask(t, m, Defaults(), question, nil) // which tries to send it
			if n := len(res.Answer) + len(res.Ns); n != 1 {
				t.Errorf("%d octets to spare: %d records", spare, n)
			}
		}
	}
}

func TestTTLs(t *testing.T) {
	m := newMemory(t, []string{"zone.test."}, `
		/skydns/test/zone/own {"host":"10.0.0.1","ttl":600}
		/skydns/test/zone/default {"host":"10.0.0.1"}`)
	r, err := skydns.Parse([]byte(`{"host":"10.0.0.1"}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	m.records = append(m.records, stored{"test/zone/z", r})
	for _, tt := range []struct {
		name   string
		change func(*Settings, *Question)
		want   uint32
	}{
		{"own.zone.test.", func(*Settings, *Question) {}, 600},
		{"default.zone.test.", func(*Settings, *Question) {}, 300},
		{"default.zone.test.", func(s *Settings, _ *Question) { s.TTL = 5 }, 5},
		{"own.zone.test.", func(_ *Settings, q *Question) { q.MaxTTL = 30 }, 30},
		{"z.zone.test.", func(s *Settings, _ *Question) {
			s.RecordTTL = func(r *skydns.Record, ttl uint32, own bool) uint32 {
				if r.Lease() != 1 || ttl != 300 || own {
					t.Errorf("asked for the TTL of lease %d, %d, own %t", r.Lease(), ttl, own)
				}
				return 42
			}
		}, 42},
	} {
		s, q := Defaults(), Question{Name: tt.name, Type: dns.TypeA}
		tt.change(&s, &q)
		res := (&Resolver{s}).Lookup(context.Background(), m, q)
		if len(res.Answer) != 1 || res.Answer[0].Header().Ttl != tt.want {
			t.Errorf("%s: %v, want TTL %d", tt.name, res.Answer, tt.want)
		}
	}
}
