//go:build linux

package fastudp

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

func TestQuestionsComeThroughTheLanes(t *testing.T) {
	const address = "dns://127.0.0.1:0"
	s := start(t, address, ".:0 {\n bind 127.0.0.1\n fastudp\n echo\n}")
	before := value(datagramsTotal.WithLabelValues(address, "received"))
	for range 50 {
		if got := text(t, s.Ask(t, "a.example.", dns.TypeTXT)); got[0] != "a.example." || got[2] != s.Addr() {
			t.Fatalf("answer %q, want the name and the local address %s", got, s.Addr())
		}
	}
	if got := value(datagramsTotal.WithLabelValues(address, "received")) - before; got != 50 {
		t.Errorf("%v of 50 questions came through the lanes; the rest went to CoreDNS's own socket", got)
	}
}

func TestTheRemoteAddressIsTheClients(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		address := "dns://" + net.JoinHostPort(host, "0")
		t.Run(host, func(t *testing.T) {
			s := start(t, address, ".:0 {\n bind "+host+"\n fastudp\n echo\n}")
			f := frontOf(t, s.Addr())
			c, err := net.Dial("udp", f.lanes[0].local.String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if got := text(t, ask(t, c, question(t, 7, "who.example."))); got[1] != c.LocalAddr().String() {
				t.Errorf("the plugin saw %s, the client is %s", got[1], c.LocalAddr())
			}
		})
	}
}

// A machine with several addresses must answer from the one that was asked, or clients drop the reply.
func TestAWildcardListenerAnswersFromTheAddressAsked(t *testing.T) {
	const address = "dns://:0"
	s := start(t, address, ".:0 {\n fastudp\n echo\n}")
	_, port, _ := net.SplitHostPort(s.Addr())
	for _, host := range []string{"127.0.0.1", "127.0.0.2", "127.9.8.7", "::1"} {
		// A connected socket takes replies from the address that it asked, and from no other.
		c, err := net.Dial("udp", net.JoinHostPort(host, port))
		if err != nil {
			t.Logf("%s: %v", host, err)
			continue
		}
		text(t, ask(t, c, question(t, 7, "a.example.")))
		_ = c.Close()
	}
}

// Buffers are shared, questions and replies are not: each of many clients must see its own name, padded to lengths that
// do not fit the buffers as well.
func TestNobodySeesAnothersBytes(t *testing.T) {
	const address = "dns://127.0.0.1:0"
	s := start(t, address, ".:0 {\n bind 127.0.0.1\n fastudp\n echo\n}")
	var clients sync.WaitGroup
	for n := range 50 {
		clients.Go(func() {
			c, err := net.Dial("udp", s.Addr())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			for i := range 200 {
				name := fmt.Sprintf("q%d.of.client%d.%0*d.example.", i, n, 1+(i*7+n)%60, 0)
				m, err := exchange(c, question(t, uint16(i), name))
				if err != nil {
					t.Error(err)
					return
				}
				if txt := m.Answer[0].(*dns.TXT).Txt; m.Id != uint16(i) || m.Question[0].Name != name || txt[0] != name ||
					txt[1] != c.LocalAddr().String() {
					t.Errorf("client %s asked for %s (ID %d) and got\n%v", c.LocalAddr(), name, i, m)
					return
				}
			}
		})
	}
	clients.Wait()
}

func TestABlockedWorkerHoldsUpNobody(t *testing.T) {
	const address, blocked = "dns://127.0.0.1:0", 100
	g := newGate(t)
	s := start(t, address, ".:0 {\n bind 127.0.0.1\n fastudp\n echo\n}")
	c, err := net.Dial("udp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for i := range blocked {
		if _, err := c.Write(question(t, uint16(i), "block.")); err != nil {
			t.Fatal(err)
		}
		<-g.waiting
	}
	s.Ask(t, "free.example.", dns.TypeTXT)
	close(g.open)
	for seen := make(map[uint16]bool); len(seen) < blocked; {
		seen[read(t, c).Id] = true
	}
}

func TestBeyondMaxConcurrentQuestionsAreDroppedAndCounted(t *testing.T) {
	const address = "dns://127.0.0.1:0"
	g := newGate(t)
	s := start(t, address, ".:0 {\n bind 127.0.0.1\n fastudp {\n max_concurrent 1\n }\n echo\n}")
	lanes := len(frontOf(t, s.Addr()).lanes)
	before := value(droppedTotal.WithLabelValues(address, "busy"))
	c, err := net.Dial("udp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	// Every lane has room for one. The lane is chosen at random, so ask until all are full and one more is turned away.
	held, dropped := 0, 0
	for i := uint16(0); held < lanes || dropped == 0; i++ {
		if _, err := c.Write(question(t, i, "block.")); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the question is held or dropped", func() bool {
			select {
			case <-g.waiting:
				held++
				return true
			default:
			}
			now := int(value(droppedTotal.WithLabelValues(address, "busy")) - before)
			more := now > dropped
			dropped = now
			return more
		})
	}
	if held != lanes {
		t.Errorf("%d questions in progress, the bound is 1 for each of %d lanes", held, lanes)
	}
	close(g.open)
	for range held {
		read(t, c)
	}
	s.Ask(t, "free.example.", dns.TypeTXT)
}

func TestMultisocketIsServedOnce(t *testing.T) {
	port := freeport.Port(t)
	address := "dns://127.0.0.1:" + port
	s := start(t, address, bound(port, "multisocket 3\n fastudp"))
	eventually(t, "all is steered", func() bool { return steered(frontOf(t, s.Addr())) })
	before := value(datagramsTotal.WithLabelValues(address, "received"))
	for range 20 {
		s.Ask(t, "a.example.", dns.TypeTXT)
	}
	if got := value(datagramsTotal.WithLabelValues(address, "received")) - before; got != 20 {
		t.Errorf("%v of 20 questions came through the lanes", got)
	}
}

func TestSharingTheAddressWithOthersLosesNothing(t *testing.T) {
	port := freeport.Port(t)
	address := "dns://127.0.0.1:" + port
	server.Start(t, bound(port, "")) // stands for another process
	s := start(t, address, bound(port, "fastudp"))
	if steered(frontOf(t, s.Addr())) {
		t.Error("the sockets of somebody else get nothing any more")
	}
	for range 200 {
		s.Ask(t, "a.example.", dns.TypeTXT)
	}
}

// Both have the address :0 in CoreDNS's words, and are nothing to each other.
func TestTwoServersOnPortZeroAreKeptApart(t *testing.T) {
	one := server.StartUnchecked(t, ".:0 {\n bind 127.0.0.1\n fastudp\n echo\n}")
	two := server.StartUnchecked(t, ".:0 {\n bind 127.0.0.1\n fastudp\n echo\n}")
	for _, s := range []*server.Server{one, two} {
		f := frontOf(t, s.Addr())
		before := value(f.count.received)
		for range 20 {
			if got := text(t, s.Ask(t, "a.example.", dns.TypeTXT)); got[2] != s.Addr() {
				t.Fatalf("%s answered for %s", got[2], s.Addr())
			}
		}
		if got := value(f.count.received) - before; got != 20 {
			t.Errorf("%v of 20 questions came through the lanes", got)
		}
	}
}

// CoreDNS's own listener cuts off at 512 bytes and then finds the question malformed.
func TestLongQuestionsAreReadWhole(t *testing.T) {
	const address = "dns://127.0.0.1:0"
	s := start(t, address, ".:0 {\n bind 127.0.0.1\n fastudp\n echo\n}")
	for _, padding := range []int{400, 500, 1000, 4000} {
		m := new(dns.Msg)
		m.SetQuestion("a.plain.", dns.TypeTXT)
		m.SetEdns0(1232, false)
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_PADDING{Padding: make([]byte, padding)}} // RFC 7830
		if r := s.Exchange(t, m, "udp"); r.Rcode != dns.RcodeSuccess || text(t, r)[0] != "a.plain." {
			t.Errorf("padded with %d bytes: %s", padding, dns.RcodeToString[r.Rcode])
		}
	}
}
