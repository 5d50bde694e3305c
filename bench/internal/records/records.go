// Package records is what all servers of the benchmarks serve: the addresses of n0.bench.example and so on, in the forms
// that the servers read them in.
package records

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/trident-dns/trident/bench/internal/rig"

	"github.com/miekg/dns"
)

const (
	// Zone is the parent of all names.
	Zone = "bench.example."
	// Prefix is what the keys of all records in etcd begin with.
	Prefix = "/skydns/example/bench/"
)

// Name is the name of record i.
func Name(i int) string { return fmt.Sprintf("n%d.%s", i, Zone) }

// Address is its address.
func Address(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255) }

// Key is its key in etcd.
func Key(i int) string { return fmt.Sprintf("%sn%d", Prefix, i) }

// Value is a value in etcd: an address and a port.
func Value(addr string) string { return fmt.Sprintf(`{"host":%q,"port":8080}`, addr) }

// Probe is a question that whoever knows the records answers.
func Probe() rig.Probe { return rig.Probe{Name: Name(1), Type: dns.TypeA} }

// ZoneFile has the first n records, as NSD reads them.
func ZoneFile(n int) rig.Zone {
	var b strings.Builder
	fmt.Fprintf(&b, "$ORIGIN %[1]s\n$TTL 300\n@ SOA ns.%[1]s mbox.%[1]s 1 3600 600 86400 300\n@ NS ns.%[1]s\nns A 127.0.0.1\n", Zone)
	for i := range n {
		fmt.Fprintf(&b, "n%d A %s\n", i, Address(i))
	}
	return rig.Zone{Name: Zone, Text: b.String(), Probe: Probe()}
}

// HostsFile has the first n records in the format of hosts(5).
func HostsFile(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %s\n", Address(i), strings.TrimSuffix(Name(i), "."))
	}
	return b.String()
}

// WriteQuestions writes questions for the first n records, each once, in random order, in the format of dnsperf.
func WriteQuestions(file string, n int, qtype uint16) error {
	var b strings.Builder
	for _, i := range rand.Perm(n) {
		fmt.Fprintf(&b, "%s %s\n", Name(i), dns.TypeToString[qtype])
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
