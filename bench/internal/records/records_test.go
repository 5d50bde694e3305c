package records

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestEveryFormHasTheSameRecords(t *testing.T) {
	const n = 70_000 // more than fits two bytes of an address
	hosts := strings.Split(strings.TrimSpace(HostsFile(n)), "\n")
	if len(hosts) != n || hosts[n-1] != "10.1.17.111 n69999.bench.example" {
		t.Errorf("%d lines of hosts, the last %q", len(hosts), hosts[len(hosts)-1])
	}
	zone := dns.NewZoneParser(strings.NewReader(ZoneFile(n).Text), "", "")
	seen := map[string]string{}
	for rr, ok := zone.Next(); ok; rr, ok = zone.Next() {
		if a, ok := rr.(*dns.A); ok {
			seen[a.Hdr.Name] = a.A.String()
		}
	}
	if err := zone.Err(); err != nil || len(seen) != n+1 || seen[Name(n-1)] != Address(n-1) {
		t.Errorf("%v: %d addresses in the zone, the last %q", err, len(seen), seen[Name(n-1)])
	}
	if Key(7) != "/skydns/example/bench/n7" || Value(Address(7)) != `{"host":"10.0.0.7","port":8080}` {
		t.Error(Key(7), Value(Address(7)))
	}
}

func TestEachNameIsAskedOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "questions")
	if err := WriteQuestions(file, 3, dns.TypeSRV); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(lines)
	if want := []string{"n0.bench.example. SRV", "n1.bench.example. SRV", "n2.bench.example. SRV"}; !slices.Equal(lines, want) {
		t.Errorf("got %q", lines)
	}
}
