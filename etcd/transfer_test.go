package etcd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

func transferServer(t *testing.T, e *etcdtest.Etcd, more string) (s *server.Server, addr, corefile string) {
	t.Helper()
	addr = freeport.Addr(t)
	_, port, _ := strings.Cut(addr, ":")
	corefile = fmt.Sprintf(`.:%s {
		etcd zone.test {
			endpoint %s
			%s
		}
		transfer {
			to *
		}
	}`, port, e.Endpoint(), more)
	return server.Start(t, corefile), addr, corefile
}

func ixfr(t *testing.T, addr string, serial uint32) []string {
	t.Helper()
	m := new(dns.Msg)
	m.SetIxfr("zone.test.", serial, "ns.dns.zone.test.", "hostmaster.zone.test.")
	return transferred(t, addr, m)
}

// short keeps the data of the records, and the serial of SOA records.
func short(lines []string) string {
	for i, line := range lines {
		f := strings.Fields(line)
		if f[3] == "SOA" {
			lines[i] = "SOA " + f[6]
			continue
		}
		lines[i] = f[0] + " " + strings.Join(f[3:], " ")
	}
	return strings.Join(lines, "\n")
}

// RFC 1995, sections 2 to 4.
func TestIncrementalTransfers(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `
		/skydns/test/zone/dns/ns/a {"host":"10.0.0.53"}
		/skydns/test/zone/a {"host":"10.0.0.1"}
		/skydns/test/zone/b {"host":"10.0.0.2"}`)
	s, addr, corefile := transferServer(t, e, "")
	loaded(t, s, "zone.test.")
	var began uint32
	settled(t, func() string { // the key of the zone's own name comes apart
		if began = serialOf(s.Ask(t, "zone.test.", dns.TypeSOA)); len(axfr(t, addr)) == 0 {
			return "no transfer"
		}
		return ""
	})

	soa := func(serial uint32) string { return fmt.Sprintf("SOA %d", serial) }
	if got := short(ixfr(t, addr, began)); got != soa(began) {
		t.Errorf("who has all got:\n%s", got)
	}
	if got := short(ixfr(t, addr, began+5)); got != soa(began) {
		t.Errorf("who has more got:\n%s", got)
	}
	e.Put("/skydns/test/zone/a", `{"host":"10.0.0.11"}`)
	e.Delete("/skydns/test/zone/b")
	middle := uint32(e.Put("/skydns/test/zone/c", `{"host":"c.example.org"}`))
	eventually(t, s, "c.zone.test.", dns.TypeCNAME, "NOERROR [c.example.org.]")
	now := uint32(e.Put("/skydns/test/zone/dns/ns/b", `{"host":"10.0.0.54"}`))
	eventually(t, s, "b.ns.dns.zone.test.", dns.TypeA, "NOERROR [10.0.0.54]")

	wanted := strings.Join([]string{
		soa(now), soa(began), "a.zone.test. A 10.0.0.1", "b.zone.test. A 10.0.0.2",
		soa(now), "zone.test. NS b.ns.dns.zone.test.", "a.zone.test. A 10.0.0.11", "c.zone.test. CNAME c.example.org.",
		"b.ns.dns.zone.test. A 10.0.0.54", soa(now),
	}, "\n")
	last := strings.Join([]string{
		soa(now), soa(middle), soa(now), "zone.test. NS b.ns.dns.zone.test.", "b.ns.dns.zone.test. A 10.0.0.54", soa(now),
	}, "\n")
	for range 2 {
		if got := short(ixfr(t, addr, began)); got != wanted {
			t.Errorf("got:\n%s\nwant:\n%s", got, wanted)
		}
		if got := short(ixfr(t, addr, middle)); got != last {
			t.Errorf("got:\n%s\nwant:\n%s", got, last)
		}
		// A reload that changes something else remembers. Each TTL is as it was.
		if err := s.Reload(t, strings.Replace(corefile, "etcd zone.test {", "etcd zone.test {\nnegative_ttl 30", 1)); err != nil {
			t.Fatal(err)
		}
	}

	whole := short(ixfr(t, addr, 1))
	if !strings.HasPrefix(whole, soa(now)+"\nzone.test. NS ") || !strings.HasSuffix(whole, "\n"+soa(now)) || strings.Count(whole, "SOA") != 2 {
		t.Errorf("a serial of long ago got:\n%s", whole)
	}
	e.Put("/skydns/test/zone/cut/1", `{"type":"NS","rdata":"ns.example.org.","targetstrip":1}`)
	eventually(t, s, "x.cut.zone.test.", dns.TypeA, "NOERROR []")
	if got := short(ixfr(t, addr, now)); strings.Count(got, "SOA") != 2 || !strings.Contains(got, "cut.zone.test. NS ns.example.org.") {
		t.Errorf("a delegation more, want the whole zone:\n%s", got)
	}
}

func TestTransfersNeedData(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
	e.Bridge().Cut()
	s, addr, _ := transferServer(t, e, "")
	m := new(dns.Msg)
	m.SetAxfr("zone.test.")
	c := &dns.Client{Net: "tcp", Timeout: 10 * time.Second}
	if r, _, err := c.Exchange(m, addr); err != nil || r.Rcode != dns.RcodeServerFailure {
		t.Errorf("before the first list: %v, %v", r, err)
	}
	m.SetAxfr("a.zone.test.")
	if r, _, err := c.Exchange(m, addr); err != nil || r.Rcode != dns.RcodeRefused {
		t.Errorf("the name of a zone it is not: %v, %v", r, err)
	}
	e.Bridge().Heal()
	loaded(t, s, "zone.test.")
	settled(t, func() string {
		if got := short(axfr(t, addr)); !strings.Contains(got, "a.zone.test. A 10.0.0.1") {
			return "after it: " + got
		}
		return ""
	})
}

// With other defaults all TTLs are others, and no journal tells.
func TestTransfersAfterAChangeOfTheConfigurationInEtcdAreWhole(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
	s, addr, _ := transferServer(t, e, "config")
	loaded(t, s, "zone.test.")
	settled(t, func() string {
		if len(axfr(t, addr)) == 0 {
			return "no transfer"
		}
		return ""
	})
	before := serialOf(s.Ask(t, "zone.test.", dns.TypeSOA))
	e.Put("/skydns/config", `{"ttl":77}`)
	settled(t, func() string {
		if got := strings.Join(ixfr(t, addr, before), "\n"); !strings.Contains(got, "a.zone.test. 77 IN A 10.0.0.1") {
			return "got: " + got
		}
		return ""
	})
}
