package etcd

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/coredns/coredns/plugin/test"

	"github.com/trident-dns/trident/plugin/backend"

	"github.com/trident-dns/trident/etcd/index"
	"github.com/trident-dns/trident/etcd/mirror"

	"github.com/miekg/dns"
)

// loadedWith returns a handler for zone.test. whose records are the given ones, and fresh.
func loadedWith(kvs iter.Seq2[mirror.KV, error]) *Etcd { return loadedZone("zone.test.", kvs) }

// loadedZone is loadedWith for any zone.
func loadedZone(zone string, kvs iter.Seq2[mirror.KV, error]) *Etcd {
	cfg := newConfig()
	cfg.zones = []string{zone}
	e := newEtcd(cfg)
	z := backend.NewZone(zone)
	s := &source{
		zone: z, prefix: cfg.prefix, index: index.New(cfg.prefix, z.Path, nil),
		status: func() mirror.Status { return mirror.Status{State: mirror.Fresh, Contact: time.Now()} },
	}
	s.index.Zone().Reset(mirror.Position{Revision: 1}, kvs)
	e.zones[zone].source = s
	e.started.Store(true)
	return e
}

func services(n int) iter.Seq2[mirror.KV, error] {
	return func(yield func(mirror.KV, error) bool) {
		for i := range n {
			key := fmt.Sprintf("/skydns/test/zone/svc%05d/i%d", i/4, i%4)
			value := fmt.Sprintf(`{"host":"10.%d.%d.%d","port":8080}`, i>>16&255, i>>8&255, i&255)
			if !yield(mirror.KV{Key: key, Value: []byte(value), ModRevision: 1}, nil) {
				return
			}
		}
	}
}

// BenchmarkQuestion is one question of 100,000 records, without the network.
func BenchmarkQuestion(b *testing.B) {
	e := loadedWith(services(100_000))
	for _, bb := range []struct {
		name, label string
		qtype       uint16
	}{
		{"A of one", "i1.svc%05d.zone.test.", dns.TypeA},
		{"A of four", "svc%05d.zone.test.", dns.TypeA},
		{"SRV of four", "svc%05d.zone.test.", dns.TypeSRV},
		{"NODATA", "svc%05d.zone.test.", dns.TypeAAAA},
		{"NXDOMAIN", "none%05d.zone.test.", dns.TypeA},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var questions [1024]*dns.Msg
			for i := range questions {
				questions[i] = new(dns.Msg)
				questions[i].SetQuestion(fmt.Sprintf(bb.label, i*24), bb.qtype)
			}
			w := &test.ResponseWriter{}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if rcode, err := e.ServeDNS(context.Background(), w, questions[i%len(questions)]); err != nil || rcode != 0 {
					b.Fatal(rcode, err)
				}
			}
		})
	}
}
