package etcd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/etcd"
	"github.com/trident-dns/trident/etcd/snapshot"
	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func askEDNS(t *testing.T, s *server.Server, name string, qtype uint16) *dns.Msg {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	m.SetEdns0(1232, true)
	return s.Exchange(t, m, "udp")
}

// RFC 8767, section 4, and RFC 8914: what may have changed is served with a short TTL and says so.
func TestStaleAnswersSaySo(t *testing.T) {
	etcd.StaleSoon(t)
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1","ttl":600}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	if m := askEDNS(t, s, "a.zone.test.", dns.TypeA); ede(m) != 0xffff || m.Answer[0].Header().Ttl != 600 {
		t.Errorf("a fresh answer: %v", m)
	}
	e.Bridge().Cut()
	within(t, 10*time.Second, "stale answers", func() bool {
		return ede(askEDNS(t, s, "a.zone.test.", dns.TypeA)) == dns.ExtendedErrorCodeStaleAnswer
	})
	m := askEDNS(t, s, "a.zone.test.", dns.TypeA)
	if len(m.Answer) != 1 || m.Answer[0].Header().Ttl != 30 || !m.IsEdns0().Do() || m.IsEdns0().UDPSize() != 1232 {
		t.Errorf("a stale answer: %v", m)
	}
	if m := askEDNS(t, s, "b.zone.test.", dns.TypeA); m.Rcode != dns.RcodeNameError ||
		ede(m) != dns.ExtendedErrorCodeStaleNXDOMAINAnswer {
		t.Errorf("a stale NXDOMAIN: %v", m)
	}
	if m := s.Ask(t, "a.zone.test.", dns.TypeA); m.IsEdns0() != nil || len(m.Extra) != 0 {
		t.Errorf("a stale answer without EDNS: %v", m)
	}
	e.Bridge().Heal()
	within(t, 10*time.Second, "fresh answers", func() bool {
		return ede(askEDNS(t, s, "a.zone.test.", dns.TypeA)) == 0xffff
	})
}

func TestMaxStaleEndsStaleAnswers(t *testing.T) {
	etcd.StaleSoon(t)
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			max_stale 1s
			fallthrough
		}
	}`, e.Endpoint()))
	loaded(t, s, "zone.test.")
	e.Bridge().Cut()
	within(t, 10*time.Second, "no more stale answers", func() bool {
		m := askEDNS(t, s, "a.zone.test.", dns.TypeA)
		return m.Rcode == dns.RcodeServerFailure && ede(m) == dns.ExtendedErrorCodeNoReachableAuthority
	})
	e.Bridge().Heal()
	within(t, 10*time.Second, "answers again", func() bool {
		return answer(s.Ask(t, "a.zone.test.", dns.TypeA)) == "NOERROR [10.0.0.1]"
	})
}

// What the first lists of a server without a snapshot learn, one with a snapshot asks for as well.
func TestLeasesOfASnapshotAreAskedFor(t *testing.T) {
	e := etcdtest.Start(t)
	lease, err := e.Client().Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	e.Put("/skydns/test/zone/a", `{"host":"10.0.0.1"}`, clientv3.WithLease(lease.ID))
	corefile := fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			snapshot %s
		}
	}`, e.Endpoint(), filepath.Join(t.TempDir(), "zone"))
	for _, run := range []string{"from etcd", "from the snapshot"} {
		t.Run(run, func(t *testing.T) {
			s := server.Start(t, corefile)
			loaded(t, s, "zone.test.")
			within(t, 10*time.Second, "the TTL of the lease is known", func() bool {
				m := s.Ask(t, "a.zone.test.", dns.TypeA)
				return len(m.Answer) == 1 && m.Answer[0].Header().Ttl == 600
			})
		})
	}
}

// A zone in which nothing changes is as up to date as etcd has confirmed it, whatever changes elsewhere meanwhile, and
// its serial stands still.
func TestSnapshotOfAQuietZoneMovesOn(t *testing.T) {
	etcd.StaleSoon(t) // and asks often
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
	file := filepath.Join(t.TempDir(), "zone")
	corefile := fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			snapshot %s
		}
	}`, e.Endpoint(), file)
	var serials []uint32
	for range 2 {
		elsewhere := int64(0)
		t.Run("server", func(t *testing.T) {
			s := server.Start(t, corefile)
			loaded(t, s, "zone.test.")
			elsewhere = e.Put("/elsewhere", "x")
			within(t, 10*time.Second, "confirmation", func() bool { return etcd.Confirmed("zone.test.") >= elsewhere })
			serials = append(serials, serialOf(s.Ask(t, "zone.test.", dns.TypeSOA)))
		})
		f, err := snapshot.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if s := f.Sections[0]; s.Confirmed < elsewhere || s.At.Revision >= elsewhere {
			t.Errorf("the file is of revision %d, confirmed up to %d, want %d", s.At.Revision, s.Confirmed, elsewhere)
		}
		f.Close()
	}
	if serials[0] != serials[1] {
		t.Errorf("serials %v, want both the same", serials)
	}
}

func TestSnapshotAnswersWhileEtcdIsAway(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, `
		/skydns/test/zone/a {"host":"10.0.0.1"}
		/skydns/test/zone {"host":"10.0.0.9"}
		/skydns/test/zone/BAD oops
		/skydns/test/zone/caa {"type":"CAA","rdata":"0 issue \"ca.example\""}
		/skydns/test/other/a {"host":"10.0.0.2","text":"x","group":"g"}`)
	file := filepath.Join(t.TempDir(), "zones")
	corefile := fmt.Sprintf(`.:0 {
		etcd zone.test other.test {
			endpoint %s
			snapshot %s
		}
	}`, e.Endpoint(), file)

	var serial uint32
	t.Run("written at the end", func(t *testing.T) {
		s := server.Start(t, corefile)
		loaded(t, s, "zone.test.")
		loaded(t, s, "other.test.")
		within(t, 5*time.Second, "the zone's own key", func() bool {
			return strings.Contains(answer(s.Ask(t, "zone.test.", dns.TypeA)), "10.0.0.9")
		})
		serial = serialOf(s.Ask(t, "zone.test.", dns.TypeSOA))
	})
	e.Bridge().Cut()
	t.Run("served without etcd", func(t *testing.T) {
		s := server.Start(t, corefile)
		wantAnswer(t, s, "a.zone.test.", dns.TypeA, "NOERROR [10.0.0.1]")
		wantAnswer(t, s, "zone.test.", dns.TypeA, "NOERROR [10.0.0.1 10.0.0.9]")
		wantAnswer(t, s, "caa.zone.test.", dns.TypeCAA, `NOERROR [0 issue "ca.example"]`)
		wantAnswer(t, s, "a.other.test.", dns.TypeTXT, `NOERROR ["x"]`)
		if m := askEDNS(t, s, "a.zone.test.", dns.TypeA); ede(m) != dns.ExtendedErrorCodeStaleAnswer {
			t.Errorf("not said to be stale: %v", m)
		}
		if got := serialOf(s.Ask(t, "zone.test.", dns.TypeSOA)); got != serial {
			t.Errorf("serial %d, was %d", got, serial)
		}
		e.Bridge().Heal()
		e.Put("/skydns/test/zone/a", `{"host":"10.0.0.3"}`)
		within(t, 15*time.Second, "a change after etcd is back", func() bool {
			return answer(s.Ask(t, "a.zone.test.", dns.TypeA)) == "NOERROR [10.0.0.3]"
		})
	})
	t.Run("damaged", func(t *testing.T) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := server.Start(t, corefile)
		loaded(t, s, "zone.test.")
		wantAnswer(t, s, "a.zone.test.", dns.TypeA, "NOERROR [10.0.0.3]")
		if _, err := os.Stat(file + ".damaged"); err != nil {
			t.Errorf("not set aside: %v", err)
		}
	})
	t.Run("two writers", func(t *testing.T) {
		err := server.StartError(t, corefile[:len(corefile)-2]+fmt.Sprintf("etcd x.test {\nsnapshot %s\n}\n}", file))
		if !strings.Contains(err.Error(), "another block") {
			t.Errorf("two blocks of one file: %v", err)
		}
	})
}
