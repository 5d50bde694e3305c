package forward

import (
	"net/netip"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

func TestForceTCPAsksOverTCPWhateverTheClientUses(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "force_tcp\nprefer_udp", up) // force_tcp wins
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	if up.Questions("tcp") != 1 || up.Questions("udp") != 0 {
		t.Errorf("%d questions over TCP, %d over UDP; want 1 and 0", up.Questions("tcp"), up.Questions("udp"))
	}
}

func TestPreferUDPAsksOverUDPWhateverTheClientUses(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "prefer_udp", up)
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeA)
	wantA(t, s.Exchange(t, m, "tcp"), "192.0.2.1")
	if up.Questions("udp") != 1 || up.Questions("tcp") != 0 {
		t.Errorf("%d questions over UDP, %d over TCP; want 1 and 0", up.Questions("udp"), up.Questions("tcp"))
	}
}

func TestExpireClosesIdleConnections(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "force_tcp\nexpire 50ms", up)
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	dnstest.WaitFor(t, "the idle connection to be closed", func() bool { return up.OpenConns() == 0 })
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
}

func TestMaxAgeReplacesBusyConnections(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "force_tcp\nexpire 1s\nmax_age 1s", up)
	dnstest.WaitFor(t, "a second connection although the first is never idle", func() bool {
		wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
		return up.Conns("tcp") > 1
	})
}

// Without the property, questions one by one are spread over 64 sockets that stay.
func TestMaxIdleConnsBoundsWhatIsKept(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "max_idle_conns 1", up)
	const n = 200
	for range n {
		s.Ask(t, "example.org.", dns.TypeA)
	}
	if got := up.Conns("udp"); got < n/2 {
		t.Errorf("%d sockets for %d questions one by one: more than one was kept", got, n)
	}
}

func TestSourceAddressIsWhereQuestionsComeFrom(t *testing.T) {
	from := make(chan netip.Addr, 1)
	up := dnstest.New(t, func(q *dnstest.Query) {
		from <- q.Client.Addr()
		dnstest.A("192.0.2.1")(q)
	})
	s := serve(t, "source_address 127.0.0.9", up)
	for _, network := range []string{"udp", "tcp"} {
		m := new(dns.Msg)
		m.SetQuestion("example.org.", dns.TypeA)
		wantA(t, s.Exchange(t, m, network), "192.0.2.1")
		if got := <-from; got != netip.MustParseAddr("127.0.0.9") {
			t.Errorf("asked over %s from %s", network, got)
		}
	}
}
