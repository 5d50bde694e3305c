package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/miekg/dns"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/form"
	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

// Property: what export writes, import gives back to a store that is empty: the same keys, values to the byte, and TTLs
// of leases.
func TestImportGivesBackWhatExportWrote(t *testing.T) {
	s := newShell(t)
	client := s.Client()
	for seed := range uint64(5) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		want := map[string]string{"/skydns/config": ` {"domain": "example.org."}`}
		for range 20 + rnd.IntN(300) {
			want["/skydns/"+randomPath(rnd)] = randomValue(rnd)
		}
		for key, value := range want {
			if rnd.IntN(10) == 0 {
				lease, err := client.Grant(t.Context(), 1000+rnd.Int64N(3))
				if err != nil {
					t.Fatal(err)
				}
				s.Put(key, value, clientv3.WithLease(lease.ID))
			} else {
				s.Put(key, value)
			}
		}
		backup := s.run(t, "export")
		s.Delete("/skydns/", clientv3.WithPrefix())
		s.in = backup
		s.run(t, "import", "-")
		got, _ := s.Dump("/skydns")
		if !maps.Equal(got, want) {
			t.Fatalf("seed %d: %d keys came back of %d, or not the same", seed, len(got), len(want))
		}
		if again := s.run(t, "export"); again != backup {
			t.Fatalf("seed %d: the second export differs from the first:\n%s\n%s", seed, again, backup)
		}
		s.Delete("/skydns/", clientv3.WithPrefix())
	}
}

func randomPath(rnd *rand.Rand) string {
	segments := []string{"org", "example", "WWW", "a", "b", "*", "_tcp", "x.y", "dns", "ns", "apex", "stub", "", `b\.c`}
	var path []string
	for range 1 + rnd.IntN(6) {
		path = append(path, segments[rnd.IntN(len(segments))])
	}
	return strings.Join(path, "/") + fmt.Sprint("/", rnd.IntN(50))
}

func randomValue(rnd *rand.Rand) string {
	values := []string{
		`{"host":"10.0.0.%d"}`, `{"Host": "10.0.0.%d", "port": "80"}`, "{\n\t\"text\":\"<&>\\u2028 %d\"}", `{"host":"a%d.example.net","unknown":[1, 2]}`,
		`{"type":"CAA","rdata":"%d issue \"ca.example\""}`, `{"text":"é%d","group":"g"}`,
	}
	return fmt.Sprintf(values[rnd.IntN(len(values))], rnd.IntN(200))
}

// Property: the records of a zone file are those that the keys hold which they were given, and no others.
func TestArrangedRecordsAreReadAsWhatTheyWere(t *testing.T) {
	const zone = "example.org."
	prefix := skydns.Prefix("/skydns")
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var have []record.Key
		all := map[string]bool{}
		for range 3 { // the second and third find the keys of those before
			var text strings.Builder
			for range 1 + rnd.IntN(30) {
				line := randomRR(rnd, zone)
				rr, err := dns.NewRR(line)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				rr.Header().Name = dns.CanonicalName(rr.Header().Name)
				all[rr.String()] = true
				fmt.Fprintln(&text, line)
			}
			in, err := form.Read(form.Zone, "zone", []byte(text.String()), form.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, service := range []bool{false, true} {
				a := plan.Arranger{Prefix: prefix, Zones: map[string]bool{skydns.PathOf(zone): true}, Have: have, Service: service}
				entries, refused := a.Arrange(in.Wants)
				if len(refused) > 0 {
					t.Fatalf("seed %d: %s: %v", seed, refused[0].Want.Origin, refused[0].Err)
				}
				changes, _ := plan.Diff(entriesOf(have), entries, plan.Nothing)
				for _, c := range changes {
					if c.Old != nil {
						t.Fatalf("seed %d: %s was to be overwritten:\n%s\n%s", seed, c.Key(), c.Old.Value, c.New.Value)
					}
					have = append(have, record.Read(prefix, *c.New))
				}
				if service && len(changes) > 0 {
					t.Fatalf("seed %d: the same records gave %d new keys", seed, len(changes))
				}
			}
		}
		got := map[string]bool{}
		for _, k := range have {
			for _, rr := range k.RRs() {
				got[rr.String()] = true
			}
		}
		if !maps.Equal(got, all) {
			t.Fatalf("seed %d: the keys hold\n%v\nwant\n%v", seed, got, all)
		}
	}
}

// TTLs are the same for all: with another TTL the record would rightly be changed in its place.
func randomRR(rnd *rand.Rand, zone string) string {
	owners := []string{"", "www.", "a.www.", "*.", "_sip._tcp.", `x\.y.`, "dns.", "UPPER."}
	data := []string{
		"A 10.0.0.%d", "AAAA 2001:db8::%d", "AAAA ::ffff:10.0.0.%d", "CNAME c%d.example.net.", "MX %d mx.example.net.", "MX 0 m%d.example.net.",
		"SRV 0 %d 80 s.example.net.", "SRV 10 20 %d s.example.net.", "SRV 10 20 0 s%d.", `TXT "t%d"`, `TXT "a" "b%d"`, `TXT "\255%d"`,
		`TXT "back\\slash \"quote\" %d"`, "NS ns%d.example.net.", `CAA %d issue "ca.example"`, "PTR p%d.example.net.", "TYPE65400 \\# 2 00%02d",
		"HTTPS 1 . alpn=h%d", `NAPTR %d 1 "u" "E2U+sip" "!^.*$!sip:a@b!" .`, "CNAME 10.0.0.%d.",
	}
	return owners[rnd.IntN(len(owners))] + zone + " 60 IN " + fmt.Sprintf(data[rnd.IntN(len(data))], rnd.IntN(99))
}

func TestExportedValuesAreJSONForOtherPrograms(t *testing.T) {
	s := newShell(t)
	s.Put("/skydns/org/example/www", `{"host":"10.0.0.1"}`)
	var line struct {
		Key   string
		Value struct{ Host string }
	}
	if err := json.Unmarshal([]byte(s.run(t, "export", "example.org")), &line); err != nil || line.Value.Host != "10.0.0.1" {
		t.Errorf("%v, %+v", err, line)
	}
}
