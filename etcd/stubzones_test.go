package etcd_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

const stubCorefile = `.:0 {
	etcd zone.test sub.zone.test {
		endpoint %s
		stubzones
	}
}`

// putStub makes a server one of those of a stub zone, given as the part of the key.
func putStub(e *etcdtest.Etcd, zone, key string, at netip.AddrPort) {
	e.Put("/skydns/test/zone/dns/stub/"+zone+"/"+key, fmt.Sprintf(`{"host":%q,"port":%d}`, at.Addr(), at.Port()))
}

func eventually(t *testing.T, s *server.Server, name string, qtype uint16, want string) {
	t.Helper()
	got := ""
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got = answer(s.Ask(t, name, qtype)); got == want {
			return
		}
	}
	t.Fatalf("%s %s: want %s, got %s", name, dns.TypeToString[qtype], want, got)
}

func TestStubZonesFollowEtcdAndTheClosestAnswers(t *testing.T) {
	e := etcdtest.Start(t)
	corp, dev := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.2"))
	put(e, `
		/skydns/test/zone/a {"host":"10.0.0.1"}
		/skydns/test/zone/team/x {"host":"10.0.0.2"}
		/skydns/test/zone/alias {"host":"y.team.zone.test"}`)
	putStub(e, "com/corp", "10.0.0.53", corp.Addr()) // the last segment may look like anything
	s := server.Start(t, fmt.Sprintf(stubCorefile, e.Endpoint()))
	loaded(t, s, "zone.test.")
	eventually(t, s, "www.CORP.com.", dns.TypeA, "NOERROR [192.0.2.1]")
	eventually(t, s, "corp.com.", dns.TypeA, "NOERROR [192.0.2.1]")

	putStub(e, "com/corp/Dev", "ns/", dev.Addr())
	eventually(t, s, "www.dev.corp.com.", dns.TypeA, "NOERROR [192.0.2.2]")
	wantAnswer(t, s, "www.corp.com.", dns.TypeA, "NOERROR [192.0.2.1]")
	wantAnswer(t, s, "notcorp.com.", dns.TypeA, "SERVFAIL []") // nobody serves it

	// Below a zone it goes before what is kept there, also at the end of a chain.
	wantAnswer(t, s, "x.team.zone.test.", dns.TypeA, "NOERROR [10.0.0.2]")
	putStub(e, "test/zone/team", "ns", dev.Addr())
	eventually(t, s, "x.team.zone.test.", dns.TypeA, "NOERROR [192.0.2.2]")
	wantAnswer(t, s, "alias.zone.test.", dns.TypeA, "NOERROR [192.0.2.2 y.team.zone.test.]")

	// A zone is never one, and neither is a zone below it.
	putStub(e, "test/zone", "ns", dev.Addr())
	putStub(e, "test/zone/sub", "ns", dev.Addr())
	e.Delete("/skydns/test/zone/dns/stub/test/zone/team/ns")
	eventually(t, s, "x.team.zone.test.", dns.TypeA, "NOERROR [10.0.0.2]")
	wantAnswer(t, s, "a.zone.test.", dns.TypeA, "NOERROR [10.0.0.1]")
	wantAnswer(t, s, "a.sub.zone.test.", dns.TypeA, "NXDOMAIN []")

	e.Delete("/skydns/test/zone/dns/stub/com/corp/Dev/ns/")
	eventually(t, s, "www.dev.corp.com.", dns.TypeA, "NOERROR [192.0.2.1]")

	// The root takes what is left.
	e.Put("/skydns/test/zone/dns/stub/ns", fmt.Sprintf(`{"host":"127.0.0.1","port":%d}`, dev.Addr().Port()))
	eventually(t, s, "www.example.", dns.TypeA, "NOERROR [192.0.2.2]")
	wantAnswer(t, s, "b.zone.test.", dns.TypeA, "NXDOMAIN []")
}

func TestStubZonesGoOnToAServerThatAnswers(t *testing.T) {
	e := etcdtest.Start(t)
	good := dnstest.New(t, dnstest.A("192.0.2.1"))
	lame, silent := dnstest.New(t, dnstest.Rcode(dns.RcodeRefused)), dnstest.New(t, dnstest.Drop)
	for i, at := range []netip.AddrPort{good.Addr(), lame.Addr(), silent.Addr()} {
		putStub(e, "com/corp", fmt.Sprint(i), at)
	}
	putStub(e, "com/lame", "ns", lame.Addr())
	s := server.Start(t, fmt.Sprintf(stubCorefile, e.Endpoint()))
	loaded(t, s, "zone.test.")
	eventually(t, s, "www.corp.com.", dns.TypeA, "NOERROR [192.0.2.1]")
	for range 20 { // whichever comes first
		wantAnswer(t, s, "www.corp.com.", dns.TypeA, "NOERROR [192.0.2.1]")
	}
	if lame.Questions("") == 0 || silent.Questions("") == 0 {
		t.Error("questions are not spread over the servers")
	}
	wantAnswer(t, s, "www.lame.com.", dns.TypeA, "REFUSED []") // the last word of those who serve it
}

func TestStubZonesWithoutServersThatAnswerSayWhy(t *testing.T) {
	e := etcdtest.Start(t)
	gone := dnstest.New(t, dnstest.Drop)
	gone.Stop()
	putStub(e, "com/corp", "ns", gone.Addr())
	s := server.Start(t, fmt.Sprintf(stubCorefile, e.Endpoint()))
	loaded(t, s, "zone.test.")
	m := new(dns.Msg)
	m.SetQuestion("www.corp.com.", dns.TypeA)
	m.SetEdns0(1232, false)
	within(t, 15*time.Second, "SERVFAIL with the extended error 22", func() bool {
		r := s.Exchange(t, m, "udp")
		return r.Rcode == dns.RcodeServerFailure && ede(r) == dns.ExtendedErrorCodeNoReachableAuthority
	})
}

// mark is the option of SkyDNS, 65001+10.
func mark() dns.EDNS0 { return &dns.EDNS0_LOCAL{Code: 65011, Data: []byte{1}} }

func TestStubZonesMarkQuestionsAndLeaveTheClientsOPTAlone(t *testing.T) {
	e := etcdtest.Start(t)
	seen := make(chan *dns.OPT, 10)
	echo := dnstest.New(t, func(q *dnstest.Query) {
		seen <- dns.Copy(q.Msg.IsEdns0()).(*dns.OPT) // to pack the reply changes it
		m := q.Answer()
		m.Extra = append(m.Extra, q.Msg.IsEdns0()) // with all options, as some servers do
		rr, _ := dns.NewRR(q.Msg.Question[0].Name + " 60 IN A 192.0.2.1")
		m.Answer = append(m.Answer, rr)
		q.Reply(m)
	})
	putStub(e, "com/corp", "ns", echo.Addr())
	s := server.Start(t, fmt.Sprintf(stubCorefile, e.Endpoint()))
	loaded(t, s, "zone.test.")
	for _, network := range []string{"udp", "tcp"} {
		m := new(dns.Msg)
		m.SetQuestion("www.corp.com.", dns.TypeA)
		within(t, 15*time.Second, "an answer", func() bool { return len(s.Exchange(t, m, network).Answer) == 1 })
		if r := s.Exchange(t, m, network); r.IsEdns0() != nil {
			t.Errorf("%s: a client without EDNS got %v", network, r.IsEdns0())
		}
		<-seen
		if opt := <-seen; !hasMark(opt) {
			t.Errorf("%s: the question went out without the mark: %v", network, opt)
		}
		m.SetEdns0(1400, true)
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_LOCAL{Code: 65002, Data: []byte("x")}}
		r := s.Exchange(t, m, network)
		if opt := r.IsEdns0(); opt == nil || hasMark(opt) || !opt.Do() {
			t.Errorf("%s: a client with EDNS got %v", network, opt)
		}
		if opt := <-seen; !hasMark(opt) || opt.Option[0].Option() != 65002 || opt.UDPSize() != 1400 || !opt.Do() {
			t.Errorf("%s: the question went out with %v", network, opt)
		}
	}
	if echo.Questions("udp") == 0 || echo.Questions("tcp") == 0 {
		t.Error("questions did not go out the way that they came in")
	}
}

func hasMark(opt *dns.OPT) bool {
	if opt != nil {
		for _, o := range opt.Option {
			if l, ok := o.(*dns.EDNS0_LOCAL); ok && l.Code == 65011 {
				return true
			}
		}
	}
	return false
}

func TestStubZonesOfServersWithoutEDNS(t *testing.T) {
	e := etcdtest.Start(t)
	old := dnstest.New(t, func(q *dnstest.Query) {
		if q.Msg.IsEdns0() != nil {
			m := new(dns.Msg)
			m.SetRcode(q.Msg, dns.RcodeFormatError)
			q.Reply(m)
			return
		}
		dnstest.A("192.0.2.1")(q)
	})
	putStub(e, "com/corp", "ns", old.Addr())
	s := server.Start(t, fmt.Sprintf(stubCorefile, e.Endpoint()))
	loaded(t, s, "zone.test.")
	eventually(t, s, "www.corp.com.", dns.TypeA, "NOERROR [192.0.2.1]")
}

func TestStubZonesEndLoops(t *testing.T) {
	e := etcdtest.Start(t)
	corefile := fmt.Sprintf(stubCorefile, e.Endpoint())
	s, other := server.StartUnchecked(t, corefile), server.StartUnchecked(t, corefile)
	loaded(t, s, "zone.test.")
	loaded(t, other, "zone.test.")
	// Both send what is below corp.com to each other.
	for i, at := range []string{s.Addr(), other.Addr()} {
		putStub(e, "com/corp", fmt.Sprint(i), netip.MustParseAddrPort(at))
	}
	m := new(dns.Msg)
	m.SetQuestion("www.corp.com.", dns.TypeA)
	m.SetEdns0(1232, false)
	within(t, 15*time.Second, "SERVFAIL with the other's reason", func() bool {
		r := s.Exchange(t, m, "udp")
		return r.Rcode == dns.RcodeServerFailure && ede(r) == dns.ExtendedErrorCodeOther
	})
	m.IsEdns0().Option = []dns.EDNS0{mark()}
	if r := s.Exchange(t, m, "udp"); r.Rcode != dns.RcodeServerFailure || ede(r) != dns.ExtendedErrorCodeOther {
		t.Errorf("a question that went in a circle: %v", r)
	}
	// What is kept here may be asked for by anybody.
	e.Put("/skydns/test/zone/a", `{"host":"10.0.0.1"}`)
	m.Question[0].Name = "a.zone.test."
	within(t, 15*time.Second, "an answer to a marked question", func() bool {
		return answer(s.Exchange(t, m, "udp")) == "NOERROR [10.0.0.1]"
	})
}

func TestStubZonesRefuseWhatCannotBeSentOn(t *testing.T) {
	e := etcdtest.Start(t)
	corp := dnstest.New(t, dnstest.A("192.0.2.1"))
	putStub(e, "com/corp", "ns", corp.Addr())
	s := server.Start(t, fmt.Sprintf(stubCorefile, e.Endpoint()))
	loaded(t, s, "zone.test.")
	eventually(t, s, "www.corp.com.", dns.TypeA, "NOERROR [192.0.2.1]")
	before := corp.Questions("")
	m := new(dns.Msg)
	m.SetAxfr("corp.com.")
	if r := s.Exchange(t, m, "tcp"); r.Rcode != dns.RcodeRefused {
		t.Errorf("a transfer: %v", r)
	}
	m.SetQuestion("www.corp.com.", dns.TypeA)
	m.SetTsig("key.", dns.HmacSHA256, 300, time.Now().Unix())
	c := &dns.Client{Timeout: 5 * time.Second, TsigSecret: map[string]string{"key.": "c2VjcmV0"}}
	if r, _, err := c.Exchange(m, s.Addr()); r == nil || r.Rcode != dns.RcodeNotImplemented {
		t.Errorf("a signed question: %v, %v", r, err)
	}
	if got := corp.Questions(""); got != before {
		t.Errorf("%d of them were sent on", got-before)
	}
}

// A reload that changes something else goes on with the stub zones, their connections, and what is known of servers.
func TestStubZonesOutliveReloads(t *testing.T) {
	e := etcdtest.Start(t)
	corp := dnstest.New(t, dnstest.A("192.0.2.1"))
	putStub(e, "com/corp", "ns", corp.Addr())
	corefile := fmt.Sprintf(stubCorefile, e.Endpoint())
	s := server.Start(t, corefile)
	loaded(t, s, "zone.test.")
	m := new(dns.Msg)
	m.SetQuestion("www.corp.com.", dns.TypeA)
	within(t, 15*time.Second, "an answer", func() bool { return len(s.Exchange(t, m, "tcp").Answer) == 1 })
	e.Bridge().Cut()
	before := corp.Conns("tcp")
	if err := s.Reload(t, strings.Replace(corefile, "stubzones", "stubzones\nttl 60", 1)); err != nil {
		t.Fatal(err)
	}
	if r := s.Exchange(t, m, "tcp"); len(r.Answer) != 1 {
		t.Errorf("after a reload: %v", r)
	}
	if got := corp.Conns("tcp"); got != before {
		t.Errorf("%d new connections", got-before)
	}
	if err := s.Reload(t, strings.Replace(corefile, "stubzones", "", 1)); err != nil {
		t.Fatal(err)
	}
	if r := s.Exchange(t, m, "tcp"); len(r.Answer) != 0 {
		t.Errorf("without stubzones: %v", r)
	}
}
