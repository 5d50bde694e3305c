package etcd_test

import (
	"fmt"
	"testing"

	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// skyServer serves skydns.local with records given as lines "KEY VALUE".
func skyServer(t *testing.T, records, more string) *server.Server {
	t.Helper()
	e := etcdtest.Start(t)
	put(e, records)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd skydns.local {
			endpoint %s
			%s
		}
	}`, e.Endpoint(), more))
	loaded(t, s, "skydns.local.")
	return s
}

func TestSkyDNSLocalStandsForTheServersOwnName(t *testing.T) {
	s := skyServer(t, `
		/skydns/local/skydns/nodes/one {"host":"10.0.0.1","port":8080}
		/skydns/local/skydns/nodes/two {"host":"10.0.0.2","port":8080}`, "local One.nodes.skydns.local")
	wantAnswer(t, s, "local.dns.skydns.local.", dns.TypeA, "NOERROR [10.0.0.1]")
	wantAnswer(t, s, "LOCAL.dns.skydns.local.", dns.TypeSRV, "NOERROR [10 100 8080 one.nodes.skydns.local.]")
	m := s.Ask(t, "LOCAL.dns.skydns.local.", dns.TypeA)
	if len(m.Answer) != 1 || m.Answer[0].Header().Name != "LOCAL.dns.skydns.local." {
		t.Errorf("not answered as that of the question: %v", m)
	}
	wantAnswer(t, s, "x.local.dns.skydns.local.", dns.TypeA, "NXDOMAIN []")
	wantAnswer(t, s, "local.dns.skydns.local.", dns.TypeTXT, "NOERROR []")
}

func TestSkyDNSApexAndNameServers(t *testing.T) {
	s := skyServer(t, `
		/skydns/local/skydns/dns/ns/ns1 {"host":"192.168.0.1"}
		/skydns/local/skydns/dns/ns/ns2 {"host":"192.168.0.2"}
		/skydns/local/skydns/east/web {"host":"10.0.0.1","port":80}`, "")
	wantAnswer(t, s, "skydns.local.", dns.TypeNS, "NOERROR [ns1.ns.dns.skydns.local. ns2.ns.dns.skydns.local.]")
	if m := s.Ask(t, "skydns.local.", dns.TypeNS); len(m.Extra) != 2 {
		t.Errorf("name servers without their addresses: %v", m)
	}
	wantAnswer(t, s, "ns1.ns.dns.skydns.local.", dns.TypeA, "NOERROR [192.168.0.1]")
	wantAnswer(t, s, "skydns.local.", dns.TypeA, "NOERROR [10.0.0.1]") // the whole domain's
	soa := s.Ask(t, "skydns.local.", dns.TypeSOA)
	if rr, ok := first[*dns.SOA](soa.Answer); !ok || rr.Ns != "ns.dns.skydns.local." || rr.Mbox != "hostmaster.skydns.local." {
		t.Errorf("SOA: %v", soa)
	}
}

func TestSkyDNSPrioritiesAndWeights(t *testing.T) {
	s := skyServer(t, `
		/skydns/local/skydns/web/a {"host":"10.0.0.1","port":80,"weight":75}
		/skydns/local/skydns/web/b {"host":"10.0.0.2","port":80,"weight":25}
		/skydns/local/skydns/web/c {"host":"backup.example","port":81,"priority":20}
		/skydns/local/skydns/plain/a {"host":"10.0.0.1","port":80}
		/skydns/local/skydns/plain/b {"host":"10.0.0.2","port":80}
		/skydns/local/skydns/plain/c {"host":"10.0.0.3","port":80}`, "")
	wantAnswer(t, s, "web.skydns.local.", dns.TypeSRV,
		"NOERROR [10 25 80 b.web.skydns.local. 10 75 80 a.web.skydns.local. 20 100 81 backup.example.]")
	wantAnswer(t, s, "plain.skydns.local.", dns.TypeSRV, "NOERROR [10 33 80 a.plain.skydns.local. "+
		"10 33 80 b.plain.skydns.local. 10 33 80 c.plain.skydns.local.]")
}

func TestSkyDNSTargetStrip(t *testing.T) {
	s := skyServer(t, `
		/skydns/local/skydns/web/x1 {"host":"10.0.0.1","port":80,"targetstrip":1}
		/skydns/local/skydns/web/x2 {"host":"10.0.0.2","port":81,"targetstrip":1}`, "")
	wantAnswer(t, s, "web.skydns.local.", dns.TypeSRV,
		"NOERROR [10 50 80 web.skydns.local. 10 50 81 web.skydns.local.]")
}

func TestSkyDNSGroups(t *testing.T) {
	s := skyServer(t, `
		/skydns/local/skydns/dom/a {"host":"127.0.0.1","group":"g1"}
		/skydns/local/skydns/dom/b {"host":"127.0.0.2","group":"g1"}
		/skydns/local/skydns/dom/sub/c {"host":"127.0.0.3","group":"g2"}
		/skydns/local/skydns/dom/sub/d {"host":"127.0.0.4","group":"g2"}`, "")
	wantAnswer(t, s, "dom.skydns.local.", dns.TypeA, "NOERROR [127.0.0.1 127.0.0.2]")
	wantAnswer(t, s, "sub.dom.skydns.local.", dns.TypeA, "NOERROR [127.0.0.3 127.0.0.4]")
}

func TestSkyDNSQueryWildcards(t *testing.T) {
	s := skyServer(t, `
		/skydns/local/skydns/east/prod/web {"host":"10.0.0.1"}
		/skydns/local/skydns/west/prod/web {"host":"10.0.0.2"}
		/skydns/local/skydns/west/test/web {"host":"10.0.0.3"}`, "")
	wantAnswer(t, s, "prod.*.skydns.local.", dns.TypeA, "NOERROR [10.0.0.1 10.0.0.2]")
	wantAnswer(t, s, "web.any.west.skydns.local.", dns.TypeA, "NOERROR [10.0.0.2 10.0.0.3]")
}

// RFC 2181, section 5.2, as SkyDNS did: one TTL, the least; text beside a host; a chain to its end; MX with priorities.
func TestSkyDNSRecords(t *testing.T) {
	s := skyServer(t, `
		/skydns/local/skydns/ttl/a {"host":"10.0.0.1","ttl":100}
		/skydns/local/skydns/ttl/b {"host":"10.0.0.2","ttl":30}
		/skydns/local/skydns/both {"host":"10.0.0.3","text":"hello"}
		/skydns/local/skydns/alias {"host":"both.skydns.local"}
		/skydns/local/skydns/mail/a {"host":"mx.example","mail":true,"priority":5}
		/skydns/local/skydns/mail/b {"host":"10.0.0.4","mail":true}`, "")
	m := s.Ask(t, "ttl.skydns.local.", dns.TypeA)
	if len(m.Answer) != 2 || m.Answer[0].Header().Ttl != 30 || m.Answer[1].Header().Ttl != 30 {
		t.Errorf("two TTLs in one RRset: %v", m)
	}
	wantAnswer(t, s, "both.skydns.local.", dns.TypeTXT, `NOERROR ["hello"]`)
	wantAnswer(t, s, "alias.skydns.local.", dns.TypeA, "NOERROR [10.0.0.3 both.skydns.local.]")
	wantAnswer(t, s, "mail.skydns.local.", dns.TypeMX, "NOERROR [10 b.mail.skydns.local. 5 mx.example.]")
}
