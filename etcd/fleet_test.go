package etcd_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	_ "github.com/trident-dns/trident/forward"

	"github.com/miekg/dns"
)

// settled asks until what says that all is as wanted, and else fails with what it says.
func settled(t *testing.T, what func() string) {
	t.Helper()
	settledWithin(t, 15*time.Second, what)
}

func settledWithin(t *testing.T, d time.Duration, what func() string) {
	t.Helper()
	wrong := ""
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if wrong = what(); wrong == "" {
			return
		}
	}
	t.Fatal(wrong)
}

// want says "" when the SOA record and the default TTL and priority are these.
func want(t *testing.T, s *server.Server, rname string, minimum, ttl uint32, priority uint16) func() string {
	return func() string {
		soa, ok := first[*dns.SOA](s.Ask(t, "zone.test.", dns.TypeSOA).Answer)
		srv, ok2 := first[*dns.SRV](s.Ask(t, "a.zone.test.", dns.TypeSRV).Answer)
		if !ok || !ok2 {
			return "no SOA or SRV record"
		}
		if soa.Mbox != rname || soa.Minttl != minimum || srv.Hdr.Ttl != ttl || srv.Priority != priority {
			return fmt.Sprintf("got %v and %v, want %s %d %d %d", soa, srv, rname, minimum, ttl, priority)
		}
		return ""
	}
}

func first[T dns.RR](rrs []dns.RR) (rr T, ok bool) {
	for _, r := range rrs {
		if rr, ok = r.(T); ok {
			return rr, true
		}
	}
	return rr, false
}

func TestConfigurationInEtcdIsFollowed(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `
		/skydns/test/zone/a {"host":"10.0.0.1","port":80}
		/skydns/config {"ttl":600,"min_ttl":"45","priority":20,"hostmaster":"dns.admin@example.org","domain":"zone.test."}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			config
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	settled(t, want(t, s, `dns\.admin.example.org.`, 45, 600, 20))
	before := serialOf(s.Ask(t, "zone.test.", dns.TypeSOA))

	// What is no object leaves the last one in force, and a value that makes no sense leaves the others.
	e.Put("/skydns/config", `{"ttl":`)
	e.Put("/skydns/test/zone/b", `{"host":"10.0.0.2"}`)
	eventually(t, s, "b.zone.test.", dns.TypeA, "NOERROR [10.0.0.2]")
	settled(t, want(t, s, `dns\.admin.example.org.`, 45, 600, 20))
	e.Put("/skydns/config", `{"ttl":700,"min_ttl":-1,"priority":{},"hostmaster":"a..b"}`)
	settled(t, want(t, s, "hostmaster.zone.test.", 30, 700, 10))
	if after := serialOf(s.Ask(t, "zone.test.", dns.TypeSOA)); after <= before {
		t.Errorf("serial %d after %d: a secondary would keep the old TTLs", after, before)
	}
	e.Delete("/skydns/config")
	settled(t, want(t, s, "hostmaster.zone.test.", 30, 300, 10))
}

func TestTheCorefileWinsOverTheConfigurationInEtcd(t *testing.T) {
	e := etcdtest.Start(t)
	elsewhere, mine := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	put(e, fmt.Sprintf(`
		/skydns/test/zone/a {"host":"10.0.0.1","port":80}
		/skydns/config {"ttl":600,"min_ttl":45,"priority":20,"hostmaster":"dns@example.org","nameservers":["%s"]}`, elsewhere.Addr()))
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			config
			ttl 60
			negative_ttl 10
			soa ns.example.net admin.example.net
		}
		forward . %s
	}`, e.Endpoint(), mine.Addr()))
	loaded(t, s, "zone.test.")
	settled(t, want(t, s, "admin.example.net.", 10, 60, 20)) // the priority is etcd's
	wantAnswer(t, s, "www.example.org.", dns.TypeA, "NOERROR [192.0.2.2]")
	if n := elsewhere.Questions(""); n != 0 {
		t.Errorf("%d questions went where the Corefile does not say", n)
	}
}

func TestNameserversAreAskedForNamesOfNobodyHere(t *testing.T) {
	e := etcdtest.Start(t)
	first, second := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	stub := dnstest.New(t, dnstest.A("192.0.2.3"))
	put(e, `
		/skydns/test/zone/a {"host":"10.0.0.1"}
		/skydns/test/zone/ext {"host":"www.example.org"}
		/skydns/test/other/a {"host":"10.0.0.2"}`)
	e.Put("/skydns/config", fmt.Sprintf(`{"nameservers":["%s","not an address"],"ndot":2}`, first.Addr()))
	e.Put("/skydns/test/other/dns/stub/com/corp/ns", fmt.Sprintf(`{"host":"127.0.0.1","port":%d}`, stub.Addr().Port()))
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			config
		}
		etcd other.test {
			endpoint %[1]s
			stubzones
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	eventually(t, s, "www.example.org.", dns.TypeA, "NOERROR [192.0.2.1]")
	eventually(t, s, "a.other.test.", dns.TypeA, "NOERROR [10.0.0.2]") // a zone of another block
	eventually(t, s, "a.corp.com.", dns.TypeA, "NOERROR [192.0.2.3]")  // a stub zone of another block
	wantAnswer(t, s, "b.zone.test.", dns.TypeA, "NXDOMAIN []")
	wantAnswer(t, s, "ext.zone.test.", dns.TypeA, "NOERROR [192.0.2.1 www.example.org.]")

	before := first.Questions("")
	for _, short := range []string{"host.", "."} {
		if m := askEDNS(t, s, short, dns.TypeA); m.Rcode != dns.RcodeServerFailure || ede(m) != dns.ExtendedErrorCodeProhibited {
			t.Errorf("%s is too short to be sent on: %v", short, m)
		}
	}
	if n := first.Questions("") - before; n != 0 {
		t.Errorf("%d of them were sent on", n)
	}
	e.Put("/skydns/config", fmt.Sprintf(`{"nameservers":["%s"],"ndots":1}`, second.Addr()))
	eventually(t, s, "www.example.org.", dns.TypeA, "NOERROR [192.0.2.2]")
	wantAnswer(t, s, "host.", dns.TypeA, "NOERROR [192.0.2.2]")
	e.Put("/skydns/config", fmt.Sprintf(`{"nameservers":["%s"],"no_rec":true}`, second.Addr()))
	settled(t, func() string {
		if m := s.Ask(t, "www.example.org.", dns.TypeA); m.Rcode != dns.RcodeServerFailure || len(m.Answer) > 0 {
			return "sent on in spite of no_rec: " + m.String()
		}
		return ""
	})
}

func TestConfigurationInEtcdOutlivesEtcd(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `
		/skydns/test/zone/a {"host":"10.0.0.1","port":80}
		/skydns/config {"ttl":600}`)
	corefile := fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			config
			snapshot %s
		}
	}`, e.Endpoint(), filepath.Join(t.TempDir(), "snapshot"))
	t.Run("while etcd is there", func(t *testing.T) {
		s := server.Start(t, corefile)
		loaded(t, s, "zone.test.")
		settled(t, want(t, s, "hostmaster.zone.test.", 30, 600, 10))
		e.Bridge().Cut()
		if err := s.Reload(t, strings.Replace(corefile, "config", "config\npriority 5", 1)); err != nil {
			t.Fatal(err)
		}
		settled(t, want(t, s, "hostmaster.zone.test.", 30, 600, 5))
	})
	t.Run("another process", func(t *testing.T) {
		s := server.Start(t, strings.Replace(corefile, "config", "config\nnegative_ttl 20", 1))
		soa, _ := first[*dns.SOA](s.Ask(t, "zone.test.", dns.TypeSOA).Answer)
		if m := s.Ask(t, "a.zone.test.", dns.TypeA); len(m.Answer) != 1 || soa == nil || soa.Minttl != 20 {
			t.Fatalf("from the snapshot: %v, %v", m, soa)
		}
		if ttl := s.Ask(t, "a.zone.test.", dns.TypeA).Answer[0].Header().Ttl; ttl != 30 {
			t.Errorf("TTL %d: want that of stale answers", ttl)
		}
	})
}
