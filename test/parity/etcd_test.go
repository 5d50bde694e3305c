package parity

import (
	"context"
	"strings"
	"testing"
	"time"

	_ "github.com/trident-dns/trident/etcd"
	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/internal/proctest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// etcdRecords has one of everything that the in-tree plugin answers: key and value a line.
const etcdRecords = `
/skydns/test/zone/a {"host":"10.0.0.1"}
/skydns/test/zone/aaaa {"host":"2001:db8::1"}
/skydns/test/zone/ttl {"host":"10.0.0.2","ttl":60}
/skydns/test/zone/many/1 {"host":"10.0.1.1"}
/skydns/test/zone/many/2 {"host":"10.0.1.2"}
/skydns/test/zone/many/3 {"host":"2001:db8::3"}
/skydns/test/zone/same/1 {"host":"10.0.2.1"}
/skydns/test/zone/same/2 {"host":"10.0.2.1"}
/skydns/test/zone/svc/a {"host":"10.0.3.1","port":80}
/skydns/test/zone/svc/b {"host":"10.0.3.2","port":8080,"priority":20,"weight":50}
/skydns/test/zone/svc/c {"host":"10.0.3.3","port":81,"weight":25}
/skydns/test/zone/named/x {"host":"a.zone.test","port":80}
/skydns/test/zone/named/y {"host":"aaaa.zone.test","port":81}
/skydns/test/zone/named/z {"host":"a.zone.test","port":82}
/skydns/test/zone/deep/er/and/deeper {"host":"10.0.4.1"}
/skydns/test/zone/txt {"text":"hello"}
/skydns/test/zone/texts/1 {"text":"one","ttl":10}
/skydns/test/zone/texts/2 {"text":"two","ttl":10}
/skydns/test/zone/long {"text":"LONG"}
/skydns/test/zone/cname {"host":"a.zone.test"}
/skydns/test/zone/cname6 {"host":"aaaa.zone.test"}
/skydns/test/zone/chain1 {"host":"chain2.zone.test"}
/skydns/test/zone/chain2 {"host":"chain3.zone.test"}
/skydns/test/zone/chain3 {"host":"many.zone.test"}
/skydns/test/zone/loop1 {"host":"loop2.zone.test"}
/skydns/test/zone/loop2 {"host":"loop1.zone.test"}
/skydns/test/zone/self {"host":"self.zone.test"}
/skydns/test/zone/mx/1 {"host":"a.zone.test","mail":true,"priority":10}
/skydns/test/zone/mx/2 {"host":"10.0.5.1","mail":true,"priority":20}
/skydns/test/zone/strip/x1 {"host":"10.0.6.1","port":80,"targetstrip":1}
/skydns/test/zone/strip/x2 {"host":"10.0.6.2","port":80,"targetstrip":1}
/skydns/test/zone/grp/a {"host":"10.0.7.1","group":"g1"}
/skydns/test/zone/grp/b {"host":"10.0.7.2","group":"g1"}
/skydns/test/zone/grp/sub/c {"host":"10.0.7.3","group":"g2"}
/skydns/test/zone/both {"host":"10.0.8.1","text":"beside"}
/skydns/test/zone/dns/ns/ns1 {"host":"10.0.9.1"}
/skydns/test/zone/dns/ns/ns2 {"host":"2001:db8::9"}
/skydns/test/zone/dns/apex/1 {"host":"10.0.9.9"}
/skydns/test/plain/one {"host":"10.1.0.1"}
/skydns/test/plain/two/x {"host":"10.1.0.2","port":53}
/skydns/arpa/in-addr/10/0/0/1 {"host":"a.zone.test"}
/skydns/arpa/in-addr/10/0/0/2 {"host":"ttl.zone.test","ttl":60}
/skydns/arpa/in-addr/10/0/0/3/41d1 {"host":"w1.zone.test"}
/skydns/arpa/in-addr/10/0/0/3/41d2 {"host":"w2.zone.test"}
`

var etcdNames = []string{
	"a.zone.test", "aaaa.zone.test", "ttl.zone.test", "many.zone.test", "1.many.zone.test", "same.zone.test",
	"svc.zone.test", "a.svc.zone.test", "named.zone.test", "deep.zone.test", "deeper.and.er.deep.zone.test",
	"txt.zone.test", "texts.zone.test", "long.zone.test", "cname.zone.test", "cname6.zone.test", "chain1.zone.test",
	"loop1.zone.test", "self.zone.test", "mx.zone.test", "strip.zone.test", "grp.zone.test", "both.zone.test",
	"*.many.zone.test", "any.many.zone.test", "*.zone.test", "ns.dns.zone.test", "ns1.ns.dns.zone.test",
	"one.plain.test", "two.plain.test", "1.0.0.10.in-addr.arpa", "2.0.0.10.in-addr.arpa", "3.0.0.10.in-addr.arpa", "9.0.0.10.in-addr.arpa",
	"elsewhere.example",
}

var etcdTypes = []uint16{
	dns.TypeA, dns.TypeAAAA, dns.TypeSRV, dns.TypeTXT, dns.TypeCNAME, dns.TypePTR, dns.TypeMX, dns.TypeNS, dns.TypeSOA,
	dns.TypeHTTPS,
}

// startEtcd fills an etcd of the test's own and returns its endpoint.
func startEtcd(t *testing.T) string {
	t.Helper()
	e := etcdtest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	text := strings.Replace(etcdRecords, "LONG", strings.Repeat("0123456789", 60), 1)
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		key, value, _ := strings.Cut(line, " ")
		if _, err := e.Client().Put(ctx, key, value); err != nil {
			t.Fatal(err)
		}
	}
	return e.Endpoint()
}

func TestEtcd(t *testing.T) {
	bin := proctest.Build(t, "./stock")
	endpoint := startEtcd(t)
	seen := make(ledger)
	for _, tt := range []struct {
		name, corefile string
		zones          []string
		through        string
	}{
		{"zones", ".:PORT {\n etcd zone.test plain.test 10.in-addr.arpa {\n endpoint ENDPOINT\n }\n}", []string{"zone.test.", "plain.test.", "10.in-addr.arpa."}, ""},
		{"no apex fallback", ".:PORT {\n etcd plain.test zone.test {\n endpoint ENDPOINT\n no_apex_fallback\n path skydns\n }\n}", []string{"plain.test.", "zone.test."}, ""},
		{"everything below test", ".:PORT {\n etcd test {\n endpoint ENDPOINT\n fallthrough plain.test\n }\n}", []string{"test."}, "plain.test."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			corefile := strings.ReplaceAll(tt.corefile, "ENDPOINT", endpoint)
			stock := startStock(t, bin, corefile)
			ours := server.StartUnchecked(t, strings.ReplaceAll(corefile, "PORT", "0"))
			waitForData(t, ours)
			qs := ask(around(etcdNames...), etcdTypes)
			for i := range qs {
				if contains(wide, qs[i].name) {
					qs[i].tcp = true // so that ours, with less to say, is not compared with a truncated answer
				}
			}
			compare(t, stock, ours, qs, 500, etcdDifferences(tt.zones, tt.through), seen)
		})
	}
	seen.check(t)
}

// waitForData waits until our server has its copy of the records. Stock reads etcd for each question.
func waitForData(t *testing.T, s *server.Server) {
	t.Helper()
	for deadline := time.Now().Add(proctest.Wait); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		if len(s.Ask(t, "one.plain.test", dns.TypeA).Answer) > 0 {
			return
		}
	}
	t.Fatal("our server does not answer from etcd")
}
