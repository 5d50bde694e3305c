package etcd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

func TestChangesInEtcdAreAnswered(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `
		/skydns/test/zone/a {"host":"10.0.0.1"}
		/skydns/test/zone {"host":"10.0.0.9"}
		/skydns/test/zone2/x {"host":"10.0.0.8"}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	wantAnswer(t, s, "a.zone.test.", dns.TypeA, "NOERROR [10.0.0.1]")
	wantAnswer(t, s, "b.zone.test.", dns.TypeA, "NXDOMAIN []")
	within(t, 5*time.Second, "the zone's own key is known", func() bool {
		return answer(s.Ask(t, "zone.test.", dns.TypeA)) == "NOERROR [10.0.0.1 10.0.0.9]"
	})
	serial := serialOf(s.Ask(t, "zone.test.", dns.TypeSOA))

	rev := e.Put("/skydns/test/zone/b", `{"host":"10.0.0.2"}`)
	within(t, 5*time.Second, "a new key is answered", func() bool {
		return answer(s.Ask(t, "b.zone.test.", dns.TypeA)) == "NOERROR [10.0.0.2]"
	})
	if got := serialOf(s.Ask(t, "zone.test.", dns.TypeSOA)); got != uint32(rev) || got == serial {
		t.Errorf("serial %d after revision %d, was %d", got, rev, serial)
	}
	e.Delete("/skydns/test/zone/a")
	within(t, 5*time.Second, "a deleted key is gone", func() bool {
		return answer(s.Ask(t, "a.zone.test.", dns.TypeA)) == "NXDOMAIN []"
	})
}

// E28: etcd away at start keeps nothing from starting, also with credentials.
func TestE28StartsWithoutEtcdAndRecovers(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
	e.Bridge().Cut()
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			credentials user password
		}
		etcd other.test {
			endpoint %[1]s
			fallthrough
		}
	}`, e.Endpoint()))
	m := new(dns.Msg)
	m.SetQuestion("a.zone.test.", dns.TypeA)
	if r := s.Exchange(t, m, "udp"); r.Rcode != dns.RcodeServerFailure || r.IsEdns0() != nil {
		t.Errorf("without EDNS: %v", r)
	}
	m.SetEdns0(1232, false)
	r := s.Exchange(t, m, "udp")
	if r.Rcode != dns.RcodeServerFailure || ede(r) != dns.ExtendedErrorCodeNotReady {
		t.Errorf("with EDNS: want SERVFAIL with extended error %d, got %v", dns.ExtendedErrorCodeNotReady, r)
	}
	e.Bridge().Heal()
	loaded(t, s, "other.test.")
	e.Put("/skydns/test/other/a", `{"host":"10.0.0.2"}`)
	within(t, 5*time.Second, "answers after the start", func() bool {
		return answer(s.Ask(t, "a.other.test.", dns.TypeA)) == "NOERROR [10.0.0.2]"
	})
}

// E26, E39: no question makes etcd read anything, so that its loss changes no answer.
func TestE26AnswersOutliveEtcd(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	e.Bridge().Cut()
	for range 100 {
		wantAnswer(t, s, "a.zone.test.", dns.TypeA, "NOERROR [10.0.0.1]")
	}
	wantAnswer(t, s, "b.zone.test.", dns.TypeA, "NXDOMAIN []")
}

// E37: the second block of a server block answers as well, and questions fall through to it.
func TestE37SeveralBlocksInAServerBlock(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `
		/skydns/test/zone/a {"host":"10.0.0.1"}
		/b/b/test/zone/b {"host":"10.0.0.2"}
		/skydns/test/other/c {"host":"10.0.0.3"}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			fallthrough
		}
		etcd zone.test {
			endpoint %[1]s
			path b/b
		}
		etcd other.test {
			endpoint %[1]s
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	loaded(t, s, "b.zone.test.")
	loaded(t, s, "other.test.")
	wantAnswer(t, s, "a.zone.test.", dns.TypeA, "NOERROR [10.0.0.1]")
	wantAnswer(t, s, "b.zone.test.", dns.TypeA, "NOERROR [10.0.0.2]")
	wantAnswer(t, s, "c.other.test.", dns.TypeA, "NOERROR [10.0.0.3]")
	wantAnswer(t, s, "x.zone.test.", dns.TypeA, "NXDOMAIN []")
}

// E31: a reload goes on with what is known, and a failed one leaves nothing behind.
func TestE31ReloadKeepsWhatIsKnown(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
	corefile := fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
		}
	}`, e.Endpoint())
	s := server.Start(t, corefile)
	loaded(t, s, "zone.test.")
	e.Bridge().Cut()
	if err := s.Reload(t, corefile); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, s, "a.zone.test.", dns.TypeA, "NOERROR [10.0.0.1]")
	dialed := e.Bridge().Connections()
	for range 50 { // each of them twice; what is left behind is found when the server ends
		if err := s.Reload(t, strings.Replace(corefile, "endpoint", "nonsense", 1)); err == nil {
			t.Fatal("nonsense was accepted")
		}
		// This one fails after its etcd blocks were set up.
		if err := s.Reload(t, strings.Replace(corefile, "}\n\t}", "}\n\t\ttemplate nonsense\n\t}", 1)); err == nil {
			t.Fatal("nonsense was accepted")
		}
	}
	wantAnswer(t, s, "a.zone.test.", dns.TypeA, "NOERROR [10.0.0.1]")
	e.Bridge().Heal()
	put(e, `/skydns/test/zone/a {"host":"10.0.0.2"}`)
	within(t, 20*time.Second, "a change after etcd is back", func() bool {
		return answer(s.Ask(t, "a.zone.test.", dns.TypeA)) == "NOERROR [10.0.0.2]"
	})
	if n := e.Bridge().Open(); n != 1 {
		t.Errorf("%d connections to etcd after 100 failed reloads, %d made while it was away", n, e.Bridge().Connections()-dialed)
	}
}

// E32: a bad value hides itself, not its ancestors.
func TestE32BadValueHidesOnlyItself(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `
		/skydns/test/zone/svc/1 {"host":"1.1.1.1"}
		/skydns/test/zone/svc/2 {"host":"1.1.1.2","port":"8080"}
		/skydns/test/zone/svc/3 {ttl:60,text:Simpletext}
		/skydns/test/zone/svc/4 {"host":"1.1.1.4","port":70000}
		/skydns/test/zone/svc/5/lab..el {"host":"1.1.1.5"}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	wantAnswer(t, s, "svc.zone.test.", dns.TypeA, "NOERROR [1.1.1.1 1.1.1.2]")
	wantAnswer(t, s, "2.svc.zone.test.", dns.TypeSRV, "NOERROR [10 100 8080 2.svc.zone.test.]")
	wantAnswer(t, s, "3.svc.zone.test.", dns.TypeA, "NXDOMAIN []")
	e.Put("/skydns/test/zone/svc/3", `{"host":"1.1.1.3"}`)
	e.Put("/skydns/test/zone/svc/1", `oops`)
	within(t, 5*time.Second, "one repaired and one broken", func() bool {
		return answer(s.Ask(t, "svc.zone.test.", dns.TypeA)) == "NOERROR [1.1.1.2 1.1.1.3]"
	})
}

// Names outside of the zones are looked up by asking the server itself, and chains end at some point.
func TestChainsThroughTheServer(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `
		/skydns/test/zone/www {"host":"ext.example.org"}
		/skydns/test/zone/none {"host":"none.example.org"}
		/skydns/test/zone/ping {"host":"pong.other.test"}
		/skydns/test/other/pong {"host":"ping.zone.test"}
		/skydns/test/zone/mx {"host":"mx.example.org","mail":true}
		/skydns/test/zone/svc/1 {"host":"one.example.org","port":1}
		/skydns/test/zone/svc/2 {"host":"two.example.org","port":2}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		metadata
		template IN A example.org {
			match ^none
			rcode NXDOMAIN
			fallthrough
		}
		template IN A example.org {
			answer "{{ .Name }} 60 IN A 192.0.2.1"
		}
		template IN AAAA example.org {
			answer "{{ .Name }} 60 IN AAAA 2001:db8::1"
		}
		etcd zone.test {
			endpoint %s
		}
		etcd other.test {
			endpoint %[1]s
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	loaded(t, s, "other.test.")
	wantAnswer(t, s, "www.zone.test.", dns.TypeA, "NOERROR [192.0.2.1 ext.example.org.]")
	wantAnswer(t, s, "none.zone.test.", dns.TypeA, "NXDOMAIN [none.example.org.]")
	if got := s.Ask(t, "svc.zone.test.", dns.TypeSRV); len(got.Answer) != 2 || len(got.Extra) != 4 {
		t.Errorf("want 2 records and 4 of glue, got %v", got)
	}
	if got := s.Ask(t, "ping.zone.test.", dns.TypeA); got.Rcode != dns.RcodeServerFailure {
		t.Errorf("a loop through the server: %v", got)
	}
}

func TestNotQuestionsGoOn(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
		}
		erratic zone.test {
			drop 0
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	m := new(dns.Msg)
	m.SetNotify("zone.test.")
	if r := s.Exchange(t, m, "udp"); len(r.Answer) != 0 || r.Authoritative && r.Rcode == dns.RcodeSuccess && len(r.Ns) > 0 {
		t.Errorf("NOTIFY was answered as a question: %v", r)
	}
	m = new(dns.Msg)
	m.SetQuestion("zone.test.", dns.TypeAXFR)
	if r := s.Exchange(t, m, "tcp"); r.Rcode != dns.RcodeRefused {
		t.Errorf("AXFR without the transfer plugin: %v", r)
	}
}
