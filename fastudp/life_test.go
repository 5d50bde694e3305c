//go:build linux

package fastudp

import (
	"net"
	"testing"

	"github.com/coredns/caddy"
	"github.com/trident-dns/trident/internal/freeport"

	"github.com/miekg/dns"
)

func TestReloadsUnderLoadLoseNothing(t *testing.T) {
	port := freeport.Port(t)
	address := "dns://127.0.0.1:" + port
	for _, tt := range []struct{ name, from, to string }{
		{"same configuration", "fastudp", "fastudp"},
		{"other bound", "fastudp", "fastudp {\n max_concurrent 9999\n }"},
		{"plugin removed and added", "fastudp", ""},
		{"shed added and removed", "fastudp", "shed\n fastudp"},
		{"multisocket grows and shrinks", "fastudp", "multisocket 3\n fastudp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, address, bound(port, tt.from))
			l := startLoad(t, s.Addr(), loadRate())
			for i := range 6 {
				before := l.got.Load()
				eventually(t, "traffic flows", func() bool { return l.got.Load() > before+int64(loadRate()/4) })
				body := tt.to
				if i%2 == 1 {
					body = tt.from
				}
				if err := s.Reload(t, bound(port, body)); err != nil {
					t.Fatal(err)
				}
			}
			l.check(t)
		})
	}
}

func TestFailedReloadsUnderLoadChangeNothing(t *testing.T) {
	port := freeport.Port(t)
	address := "dns://127.0.0.1:" + port
	s := start(t, address, bound(port, "fastudp"))
	f := frontOf(t, s.Addr())
	l := startLoad(t, s.Addr(), loadRate())
	taken, err := net.Listen("tcp", "127.0.0.1:0") // without SO_REUSEPORT: the start fails when servers listen
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	_, busy, _ := net.SplitHostPort(taken.Addr().String())
	for i := range 6 {
		body := bound(port, "fastudp\n refusestart")
		if i%2 == 1 {
			body = bound(port, "fastudp") + "\n" + bound(busy, "fastudp")
		}
		if err := s.Reload(t, body); err == nil {
			t.Fatal("the reload was meant to fail")
		}
		before := l.got.Load()
		eventually(t, "traffic flows", func() bool { return l.got.Load() > before+100 })
	}
	if err := s.Reload(t, bound(port, "fastudp")); err != nil {
		t.Fatal(err)
	}
	l.check(t)
	if got := frontOf(t, s.Addr()); got != f || served(address) != len(f.lanes) {
		t.Errorf("%d sockets for %d lanes, and the front is the same: %v", served(address), len(f.lanes), got == f)
	}
}

func TestAReloadToAnotherAddressAnswersWhatTheOldOneHad(t *testing.T) {
	from, to := freeport.Port(t), freeport.Port(t)
	g := newGate(t)
	s := start(t, "dns://127.0.0.1:"+from, bound(from, "fastudp"))
	c, err := net.Dial("udp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	const blocked = 20
	for i := range blocked {
		if _, err := c.Write(question(t, uint16(i), "block.")); err != nil {
			t.Fatal(err)
		}
		<-g.waiting
	}
	reloaded := make(chan error)
	go func() { reloaded <- s.Reload(t, bound(to, "fastudp")) }()
	eventually(t, "the new address is served", func() bool { return served("dns://127.0.0.1:"+to) > 0 })
	close(g.open)
	for range blocked {
		read(t, c)
	}
	if err := <-reloaded; err != nil {
		t.Fatal(err)
	}
	if n := served("dns://127.0.0.1:" + from); n != 0 {
		t.Errorf("%d sockets left on the old address", n)
	}
	s.Ask(t, "a.example.", dns.TypeTXT)
	if _, err := exchange(c, question(t, 1, "a.example.")); err == nil {
		t.Error("the old address still answers")
	}
}

func TestShutdownAnswersWhatIsInProgressAndGoesOnServing(t *testing.T) {
	port := freeport.Port(t)
	address := "dns://127.0.0.1:" + port
	g := newGate(t)
	inst, err := caddy.Start(caddy.CaddyfileInput{Contents: []byte(bound(port, "fastudp")), ServerTypeName: "dns"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "fastudp serves", func() bool { return served(address) > 0 })
	c, err := net.Dial("udp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(question(t, 1, "block.")); err != nil {
		t.Fatal(err)
	}
	<-g.waiting
	down := make(chan []error)
	go func() { down <- inst.ShutdownCallbacks() }()
	// CoreDNS's own listener takes over while the callbacks run (lameduck).
	eventually(t, "CoreDNS's own listener answers", func() bool {
		l := value(datagramsTotal.WithLabelValues(address, "received"))
		if _, err := c.Write(question(t, 2, "a.example.")); err != nil {
			t.Fatal(err)
		}
		if m := read(t, c); m.Id != 2 {
			t.Fatalf("reply to question %d, want that to 2: 1 is still blocked", m.Id)
		}
		return value(datagramsTotal.WithLabelValues(address, "received")) == l
	})
	close(g.open)
	if m := read(t, c); m.Id != 1 {
		t.Errorf("reply to question %d, want that in progress, 1", m.Id)
	}
	if errs := <-down; len(errs) > 0 {
		t.Error(errs)
	}
	if n := served(address); n != 0 {
		t.Errorf("%d sockets left", n)
	}
	ask(t, c, question(t, 3, "a.example."))
	if err := inst.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestTheEndOfTheServerUnderLoadLosesNothingBeforeItStops(t *testing.T) {
	port := freeport.Port(t)
	inst, err := caddy.Start(caddy.CaddyfileInput{Contents: []byte(bound(port, "fastudp")), ServerTypeName: "dns"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "fastudp serves", func() bool { return served("dns://127.0.0.1:"+port) > 0 })
	l := startLoad(t, "127.0.0.1:"+port, loadRate())
	eventually(t, "traffic flows", func() bool { return l.got.Load() > 1000 })
	inst.ShutdownCallbacks()
	at := l.got.Load()
	eventually(t, "traffic flows on", func() bool { return l.got.Load() > at+1000 })
	l.check(t)
	if err := inst.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestStopRightAfterStartLeavesNothing(t *testing.T) {
	port := freeport.Port(t)
	for range 20 {
		inst, err := caddy.Start(caddy.CaddyfileInput{Contents: []byte(bound(port, "fastudp")), ServerTypeName: "dns"})
		if err != nil {
			t.Fatal(err)
		}
		inst.ShutdownCallbacks()
		up(t, "127.0.0.1:"+port)
		if err := inst.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "no sockets are left", func() bool { return served("dns://127.0.0.1:"+port) == 0 && fronts.Len() == 0 })
	s := start(t, "dns://127.0.0.1:"+port, bound(port, "fastudp"))
	s.Ask(t, "a.example.", dns.TypeTXT)
}

// Whatever keeps fastudp from its sockets, here an address that none can be opened on, the listener must serve.
func TestWithoutSocketsCoreDNSsOwnListenerServes(t *testing.T) {
	port := freeport.Port(t)
	s := start(t, "dns://127.0.0.1:"+port, bound(port, "fastudp"))
	f := newFront("dns://refused", "192.0.2.1:53") // an address of nobody (RFC 5737)
	tn := frontOf(t, s.Addr()).current.Load()
	f.take(tn)
	if len(f.lanes) != 0 || served("dns://refused") != 0 {
		t.Errorf("%d lanes on an address that is not ours", len(f.lanes))
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	s.Ask(t, "a.plain.", dns.TypeTXT)
}
