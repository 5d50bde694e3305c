package main

import (
	"context"
	"testing"

	"github.com/coredns/coredns/plugin/forward"
	"github.com/coredns/coredns/plugin/pkg/proxy"
	"github.com/coredns/coredns/plugin/test"
	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// BenchmarkServeDNS is what the benchmark of the same name in our forward does, for the in-tree plugin.
func BenchmarkServeDNS(b *testing.B) {
	up := dnstest.New(b, dnstest.A("192.0.2.1"))
	f := forward.New()
	f.SetProxy(proxy.NewProxy("forward", up.Addr().String(), "dns"))
	if err := f.OnStartup(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := f.OnShutdown(); err != nil {
			b.Error(err)
		}
	}()
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
