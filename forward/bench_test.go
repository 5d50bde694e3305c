package forward

import (
	"context"
	"testing"

	"github.com/coredns/coredns/plugin/test"
	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// BenchmarkServeDNS is one question at a time to an upstream on loopback, whose share of the time is most of it. What
// the figures are good for is the allocations; the upstream's are among them.
func BenchmarkServeDNS(b *testing.B) {
	up := dnstest.New(b, dnstest.A("192.0.2.1"))
	f := handler(b, stanza("", up))
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeA)
	w := &test.ResponseWriter{}
	b.ReportAllocs()
	for b.Loop() {
		if rcode, err := f.ServeDNS(context.Background(), w, m); rcode != dns.RcodeSuccess || err != nil {
			b.Fatal(rcode, err)
		}
	}
}
