package upstream

import (
	"context"
	"net"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// The figures are of both ends: the resolver that is asked runs in the same process. BenchmarkUDP has the leanest one,
// which sends the question back as the reply; its allocations are those of Exchange alone.

func benchmark(b *testing.B, r *Resolver) {
	b.Helper()
	q := Question{Msg: question("example.org."), Proto: "udp"}
	ctx := context.Background()
	if _, err := r.Exchange(ctx, q); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetParallelism(100)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := r.Exchange(ctx, q); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkUDP(b *testing.B) {
	echo, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, dns.MaxMsgSize)
		for {
			n, client, err := echo.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			buf[2] |= 0x80
			echo.WriteToUDPAddrPort(buf[:n], client)
		}
	}()
	r, err := Open(Config{Name: "bench", Addr: echo.LocalAddr().(*net.UDPAddr).AddrPort(), Expire: DefaultExpire})
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, r)
	r.Close()
	echo.Close()
	<-done
}

func BenchmarkTCP(b *testing.B) {
	up := dnstest.New(b, dnstest.A("192.0.2.1"))
	benchmark(b, open(b, up, func(c *Config) { c.ForceTCP = true }))
}

func BenchmarkTLS(b *testing.B) {
	up := dnstest.NewTLS(b, dnstest.A("192.0.2.1"))
	benchmark(b, open(b, up, secure(up)))
}

func BenchmarkHTTPS(b *testing.B) {
	up := dnstest.NewHTTPS(b, dnstest.A("192.0.2.1"))
	benchmark(b, open(b, up, overSession(up, HTTPS)))
}

func BenchmarkHTTPS3(b *testing.B) {
	up := dnstest.NewHTTPS3(b, dnstest.A("192.0.2.1"))
	benchmark(b, open(b, up, overSession(up, HTTPS3)))
}

func BenchmarkQUIC(b *testing.B) {
	up := dnstest.NewQUIC(b, dnstest.A("192.0.2.1"))
	benchmark(b, open(b, up, overSession(up, QUIC)))
}

func BenchmarkUnpack(b *testing.B) {
	q := question("example.org.")
	wire, qend := append([]byte{0, 0}, reply(2, goodA, goodA)...), len(reply(0))+2
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := unpack(wire, qend, q, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	plain, edns := question("example.org."), withEDNS(question("example.org."))
	buf := make([]byte, 0, 512)
	for name, m := range map[string]*dns.Msg{"plain": plain, "edns": edns} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := pack(buf, m, packing{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
