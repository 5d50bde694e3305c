package etcd_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/test/server"

	_ "github.com/coredns/coredns/plugin/ready"
	"github.com/miekg/dns"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Ready is when every zone of every block has data, also when etcd was away at first. A block may be excepted.
func TestReadyWithData(t *testing.T) {
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprintf("always %t", always), func(t *testing.T) {
			e := etcdtest.Start(t)
			put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
			e.Bridge().Cut()
			property := ""
			if always {
				property = "ready always"
			}
			addr := freeport.Addr(t)
			server.Start(t, fmt.Sprintf(`.:0 {
				ready %s
				etcd zone.test {
					endpoint %s
					%s
				}
				etcd other.test {
					endpoint %[2]s
					%[3]s
				}
			}`, addr, e.Endpoint(), property))
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			status := func() int {
				resp, err := client.Get("http://" + addr + "/ready")
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				return resp.StatusCode
			}
			if got := status() == http.StatusOK; got != always {
				t.Errorf("ready %t without etcd", got)
			}
			e.Bridge().Heal()
			within(t, 15*time.Second, "ready with etcd", func() bool { return status() == http.StatusOK })
		})
	}
}

// A transaction is seen as a whole or not at all, however many keys it writes.
func TestTransactionsAreSeenWhole(t *testing.T) {
	const keys = 100
	e := etcdtest.Start(t)
	client := e.Client()
	write := func(generation int) {
		ops := make([]clientv3.Op, keys)
		for i := range ops {
			value := fmt.Sprintf(`{"host":"10.%d.0.%d"}`, generation, i)
			ops[i] = clientv3.OpPut(fmt.Sprintf("/skydns/test/zone/svc/%03d", i), value)
		}
		if _, err := client.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Error(err)
		}
	}
	write(0)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	const generations = 50
	written := make(chan struct{})
	go func() {
		defer close(written)
		for g := range generations {
			write(g + 1)
		}
	}()
	defer func() { <-written }()
	m := new(dns.Msg)
	m.SetQuestion("svc.zone.test.", dns.TypeA)
	seen := map[byte]bool{}
	within(t, 30*time.Second, "the last generation", func() bool {
		reply := s.Exchange(t, m, "tcp")
		if len(reply.Answer) != keys {
			t.Fatalf("%d records, want %d", len(reply.Answer), keys)
		}
		generation := reply.Answer[0].(*dns.A).A[1]
		for _, rr := range reply.Answer {
			if got := rr.(*dns.A).A[1]; got != generation {
				t.Fatalf("generations %d and %d in one answer", generation, got)
			}
		}
		seen[generation] = true
		return generation == generations
	})
	if len(seen) < 2 {
		t.Errorf("only %d generations were seen", len(seen))
	}
}
