package etcd_test

import (
	"fmt"
	"testing"

	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
)

// E39, E5, E24: of reads etcd counts those by which the mirror looks after its copy, a few a minute, and none for questions.
func TestE39QuestionsReadNothing(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `
		/skydns/test/zone/a {"host":"10.0.0.1"}
		/skydns/test/zone/svc/1 {"host":"a.zone.test","port":80}
		/skydns/test/zone/www {"host":"a.zone.test"}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	reads := func() float64 { return counted(t, "etcd_mvcc_range_total") }
	before := reads()
	if e.Dump("/skydns/"); reads() == before {
		t.Fatal("a read is not counted")
	}
	before = reads()
	for range 200 {
		for name, qtype := range map[string]uint16{
			"a": dns.TypeA, "www": dns.TypeAAAA, "svc": dns.TypeSRV, "none": dns.TypeA, "ns.dns": dns.TypeTXT,
		} {
			s.Ask(t, name+".zone.test.", qtype)
		}
	}
	if n := reads() - before; n > 20 {
		t.Errorf("etcd read %v times during 1,000 questions", n)
	}
}

// counted is a counter of the process, etcd's among them.
func counted(t *testing.T, name string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
