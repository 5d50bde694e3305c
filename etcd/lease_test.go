package etcd_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// E24: the TTL of a record with a lease is what the lease was granted for, asked for once and not for each question.
func TestE24LeaseTTLs(t *testing.T) {
	e := etcdtest.Start(t)
	for _, l := range []struct {
		key, value string
		ttl        int64
	}{
		{"/skydns/test/zone/long", `{"host":"10.0.0.1"}`, 90},
		{"/skydns/test/zone/short", `{"host":"10.0.0.2"}`, 10},
		{"/skydns/test/zone/own", `{"host":"10.0.0.3","ttl":5}`, 90},
	} {
		lease, err := e.Client().Grant(t.Context(), l.ttl)
		if err != nil {
			t.Fatal(err)
		}
		e.Put(l.key, l.value, clientv3.WithLease(lease.ID))
	}
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	ttl := func(name string) uint32 {
		m := s.Ask(t, name, dns.TypeA)
		if len(m.Answer) != 1 {
			t.Fatalf("%s: %v", name, m)
		}
		return m.Answer[0].Header().Ttl
	}
	within(t, 10*time.Second, "the TTL of a lease is known", func() bool { return ttl("long.zone.test.") == 90 })
	for name, want := range map[string]uint32{"short.zone.test.": 30, "own.zone.test.": 5} {
		if got := ttl(name); got != want {
			t.Errorf("%s: TTL %d, want %d", name, got, want)
		}
	}
}
