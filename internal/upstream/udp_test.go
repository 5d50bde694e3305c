package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

func TestMismatchedDatagramsAreDroppedWhileTheWaitGoesOn(t *testing.T) {
	// RFC 5452, section 9.1.
	for name, forged := range map[string]dnstest.Script{
		"wrong ID":       dnstest.WrongID,
		"wrong question": dnstest.WrongQuestion,
		"wrong type": func(q *dnstest.Query) {
			m := q.Answer()
			m.Question[0].Qtype = dns.TypeTXT
			q.Reply(m)
		},
		"a question, not a reply": func(q *dnstest.Query) { q.Send(q.Wire) },
		"another opcode": func(q *dnstest.Query) {
			m := q.Answer()
			m.Opcode = dns.OpcodeNotify
			q.Reply(m)
		},
		"short":                 func(q *dnstest.Query) { q.Send(q.Wire[:11]) },
		"empty":                 func(q *dnstest.Query) { q.Send(nil) },
		"no question, no error": dnstest.Raw([]byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
	} {
		t.Run(name, func(t *testing.T) {
			up := dnstest.New(t, dnstest.Several(forged, dnstest.A("192.0.2.1")))
			r := open(t, up)
			if got := address(ask(t, r, "udp", "example.org.").Msg); got != "192.0.2.1" {
				t.Errorf("got %q, want the good reply", got)
			}
			if n := up.Questions(""); n != 1 {
				t.Errorf("asked %d times, want 1", n)
			}
		})
	}
}

func TestManyMismatchesMoveTheQuestionToTCP(t *testing.T) {
	up := dnstest.New(t, dnstest.Over(map[string]dnstest.Script{
		"udp": func(q *dnstest.Query) {
			for range maxMismatches {
				dnstest.WrongID(q)
			}
		},
		"tcp": dnstest.A("192.0.2.1"),
	}))
	r := open(t, up)
	if got := ask(t, r, "udp", "example.org."); got.Proto != "tcp" || address(got.Msg) != "192.0.2.1" {
		t.Errorf("got %q over %s, want the reply over tcp", address(got.Msg), got.Proto)
	}
	if n := r.datagrams.(*udp).open.Load(); n != 0 {
		t.Errorf("%d sockets are in use, want the attacked one retired", n)
	}
}

func TestLateRepliesAreNotTakenForForgedOnes(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	r := open(t, up)
	u := r.datagrams.(*udp)
	x := newExchange()
	x.query, x.qend, _ = pack(x.query, question("example.org."), packing{})
	s, _, err := u.enlist(x)
	if err != nil {
		t.Fatal(err)
	}
	late := []byte{byte(x.id >> 8), byte(x.id), 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	s.remove(x)
	for range 2 * maxMismatches {
		if !s.deliver(late) {
			t.Fatal("late replies retired the socket")
		}
	}
}

func TestLostDatagramIsSentAgainLongBeforeTheReadTimeout(t *testing.T) {
	up := dnstest.New(t, dnstest.Turns(dnstest.Drop, dnstest.A("192.0.2.1")))
	r := open(t, up, func(c *Config) { c.ReadTimeout = 5 * time.Second })
	answer := ask(t, r, "udp", "example.org.")
	if took := answer.Received.Sub(answer.Sent); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	if n := up.Questions("udp"); n != 2 {
		t.Errorf("sent %d times, want 2", n)
	}
}

func TestSilentResolverIsAskedAFewTimesUntilTheReadTimeout(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	r := open(t, up, func(c *Config) { c.ReadTimeout = 1500 * time.Millisecond })
	start := time.Now()
	answer := refuse(t, r, Question{Msg: question("example.org.")}, 5*time.Second, ErrTimeout)
	if took := time.Since(start); took < 1400*time.Millisecond || took > 3*time.Second {
		t.Errorf("gave up after %v, want the read timeout", took)
	}
	if answer.Sent.IsZero() || answer.Local == nil || answer.Proto != "udp" {
		t.Errorf("a failed attempt does not say what was sent: %+v", answer)
	}
	if n := up.Questions("udp"); n != maxSends {
		t.Errorf("sent %d times, want %d", n, maxSends)
	}
}

func TestSocketThatWentSilentIsReplaced(t *testing.T) {
	// A NAT that has dropped its state, a pod that is gone: what comes from the old port is lost from now on.
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	r := open(t, up, func(c *Config) { c.ReadTimeout = 5 * time.Second })
	fillSlots(t, r, up)
	old := up.Conns("udp")
	up.Use(func(q *dnstest.Query) {
		if q.Conn > old {
			dnstest.A("192.0.2.2")(q)
		}
	})
	answer := ask(t, r, "udp", "example.org.")
	if took := answer.Received.Sub(answer.Sent); address(answer.Msg) != "192.0.2.2" || took > time.Second {
		t.Errorf("got %s after %v, want the reply over a new socket soon", address(answer.Msg), took)
	}
}

func TestDeadlineAndCancellationEndTheWait(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	for _, proto := range []string{"udp", "tcp"} {
		r := open(t, up)
		q := Question{Msg: question("example.org."), Proto: proto}
		start := time.Now()
		refuse(t, r, q, 100*time.Millisecond, ErrTimeout)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: deadline of 100 ms: ended after %v", proto, took)
		}
		ctx, cancel := context.WithCancel(context.Background())
		asked := up.Questions(proto)
		go func() {
			dnstest.WaitFor(t, "the question", func() bool { return up.Questions(proto) > asked })
			cancel()
		}()
		start = time.Now()
		if _, err := r.Exchange(ctx, q); !errors.Is(err, ErrCanceled) {
			t.Errorf("%s: got %v, want %v", proto, err, ErrCanceled)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: canceled, ended after %v", proto, took)
		}
	}
}

func TestRefusedPortFailsFast(t *testing.T) {
	closed, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	addr := closed.LocalAddr().(*net.UDPAddr).AddrPort()
	closed.Close()
	r, err := Open(Config{Name: "test", Addr: addr, Expire: DefaultExpire})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 5 {
		start := time.Now()
		refuse(t, r, Question{Msg: question("example.org.")}, 5*time.Second, ErrRefused)
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Errorf("took %v", took)
		}
	}
}

func TestSocketThatBreaksUnderAReusedQuestionCostsNoAttempt(t *testing.T) {
	// An ICMP error comes to whoever waits on the socket, and that may be somebody else's question by then.
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	r := open(t, up)
	fillSlots(t, r, up)
	asked := make(chan struct{})
	up.Use(dnstest.Turns(func(*dnstest.Query) { close(asked) }, dnstest.A("192.0.2.2")))
	go func() {
		<-asked
		u := r.datagrams.(*udp)
		for i := range u.slots {
			if s := u.slots[i].Load(); s != nil {
				s.fail(syscall.ECONNREFUSED)
			}
		}
	}()
	if got := address(ask(t, r, "udp", "example.org.").Msg); got != "192.0.2.2" {
		t.Errorf("got %s, want the reply over a new socket", got)
	}
}

// fillSlots asks until every slot has its socket.
func fillSlots(t *testing.T, r *Resolver, up *dnstest.Server) {
	t.Helper()
	for range 5000 {
		if r.datagrams.(*udp).open.Load() == udpSlots {
			return
		}
		ask(t, r, "udp", "example.org.")
	}
	t.Fatalf("%d sockets are open, want %d", up.Conns("udp"), udpSlots)
}

func TestSourcePortsAndIDsAreSpread(t *testing.T) {
	// One client that asks one question at a time must not get one port for all of them (CVE-2023-30464).
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	r := open(t, up)
	ids := make(map[uint16]bool)
	for range 300 {
		ids[ask(t, r, "udp", "example.org.").WireID] = true
	}
	if n := up.Conns("udp"); n < udpSlots/2 {
		t.Errorf("300 questions came from %d ports, want most of %d", n, udpSlots)
	}
	if len(ids) < 280 {
		t.Errorf("300 questions had %d different IDs", len(ids))
	}
}

func TestSocketsAreRetiredByUseAndByAge(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	for name, wearOut := range map[string]func(*udpSocket){
		"use": func(s *udpSocket) { s.uses = 0 },
		"age": func(s *udpSocket) { s.until = time.Now().Add(-time.Second) },
	} {
		r := open(t, up)
		u := r.datagrams.(*udp)
		x := newExchange()
		x.query, x.qend, _ = pack(x.query, question("example.org."), packing{})
		x.sent = time.Now()
		s, err := u.fresh(0, nil, x)
		if err != nil {
			t.Fatal(err)
		}
		s.remove(x)
		s.mu.Lock()
		wearOut(s)
		s.mu.Unlock()
		x.reset()
		x.sent = time.Now()
		if got := s.add(x); got != worn {
			t.Errorf("%s: a worn out socket took a question: %v", name, got)
		}
	}
}

func TestIdleSocketsAreClosed(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	r := open(t, up, func(c *Config) { c.Expire = 100 * time.Millisecond })
	for range 10 {
		ask(t, r, "udp", "example.org.")
	}
	u := r.datagrams.(*udp)
	dnstest.WaitFor(t, "no open socket", func() bool { return u.open.Load() == 0 })
	ask(t, r, "udp", "example.org.")
}

func TestNoSocketOutlivesItsQuestionWhenNoneMayBeIdle(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	r := open(t, up, func(c *Config) { c.Expire = 0 })
	for range 5 {
		ask(t, r, "udp", "example.org.")
	}
	if n := r.datagrams.(*udp).open.Load(); n != 0 {
		t.Errorf("%d sockets are open", n)
	}
	r = open(t, up, func(c *Config) { c.MaxIdleConns = 3 })
	for range 100 {
		ask(t, r, "udp", "example.org.")
	}
	if n := r.datagrams.(*udp).open.Load(); n > 3 {
		t.Errorf("%d idle sockets are open, want 3 at most", n)
	}
}

func TestEveryAskerGetsItsOwnAnswer(t *testing.T) {
	// Random delays make replies overtake each other.
	answer := func(q *dnstest.Query) {
		var n int
		fmt.Sscanf(q.Msg.Question[0].Name, "n%d.", &n)
		q.Wait(time.Duration(q.Wire[1]%16) * time.Millisecond)
		dnstest.A(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}).String())(q)
	}
	plain, encrypted := dnstest.New(t, answer), dnstest.NewTLS(t, answer)
	for proto, r := range map[string]*Resolver{
		"udp": open(t, plain), "tcp": open(t, plain, patient), "tls": open(t, encrypted, secure(encrypted), patient),
	} {
		var all sync.WaitGroup
		for n := range 500 {
			all.Go(func() {
				q := Question{Msg: question(fmt.Sprintf("n%d.example.", n)), Proto: proto}
				answer, err := r.Exchange(context.Background(), q)
				if err != nil {
					t.Errorf("%s %d: %v", proto, n, err)
					return
				}
				want := netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}).String()
				if got := address(answer.Msg); got != want {
					t.Errorf("%s %d: got %s, want %s", proto, n, got, want)
				}
			})
		}
		all.Wait()
	}
}

func TestLargeDatagramsAreSeenWhole(t *testing.T) {
	var records []string
	for i := range 200 {
		records = append(records, fmt.Sprintf("60 IN A 10.1.2.%d", i))
	}
	up := dnstest.New(t, dnstest.Records(records...))
	r := open(t, up)
	// The asker's buffer of 512 bytes concerns the asker's hop; truncating is for whoever writes to them.
	if got := ask(t, r, "udp", "example.org."); len(got.Msg.Answer) != 200 || got.Msg.Truncated {
		t.Errorf("got %d records, truncated %t, want 200", len(got.Msg.Answer), got.Msg.Truncated)
	}
}

func TestTruncationIsPassedOnOrRepeatedOverTCP(t *testing.T) {
	up := dnstest.New(t, dnstest.Over(map[string]dnstest.Script{"udp": dnstest.Truncated, "tcp": dnstest.A("192.0.2.1")}))
	if got := ask(t, open(t, up), "udp", "example.org."); !got.Msg.Truncated || got.Proto != "udp" {
		t.Errorf("got %v over %s, want TC over udp", got.Msg, got.Proto)
	}
	prefer := open(t, up, func(c *Config) { c.PreferUDP = true })
	if got := ask(t, prefer, "tcp", "example.org."); address(got.Msg) != "192.0.2.1" || got.Proto != "tcp" {
		t.Errorf("prefer_udp: got %v over %s, want the whole reply over tcp", got.Msg, got.Proto)
	}
	if n := up.Questions("udp"); n != 2 {
		t.Errorf("%d questions over udp, want 2: prefer_udp begins there", n)
	}
	force := open(t, up, func(c *Config) { c.PreferUDP, c.ForceTCP = true, true })
	if got := ask(t, force, "udp", "example.org."); got.Proto != "tcp" || up.Questions("udp") != 2 {
		t.Errorf("force_tcp: asked over %s", got.Proto)
	}
}

func TestDeadResolverDoesNotUseUpSockets(t *testing.T) {
	// A wrong address made CoreDNS hold 20,000 sockets once.
	up := dnstest.New(t, dnstest.Drop)
	r := open(t, up, func(c *Config) { c.ReadTimeout = 2 * time.Second })
	var all sync.WaitGroup
	for range 2000 {
		all.Go(func() {
			if _, err := r.Exchange(context.Background(), Question{Msg: question("example.org.")}); !errors.Is(err, ErrTimeout) {
				t.Errorf("got error %v", err)
			}
		})
	}
	all.Wait()
	// A socket is replaced when a question has waited in vain on it, and on a busy machine the questions are not quite at
	// once.
	if n := up.Conns("udp"); n > 10*udpSlots {
		t.Errorf("2000 questions at once came from %d sockets", n)
	}
}

func TestSourceAddressIsUsed(t *testing.T) {
	up := dnstest.New(t, func(q *dnstest.Query) { dnstest.A(q.Client.Addr().String())(q) })
	r := open(t, up, func(c *Config) { c.Source = netip.MustParseAddr("127.0.0.77") })
	for _, proto := range []string{"udp", "tcp"} {
		if got := address(ask(t, r, proto, "example.org.").Msg); got != "127.0.0.77" {
			t.Errorf("%s: came from %s", proto, got)
		}
	}
}

func TestLossesShowThoughNobodyWaitsForTheReplies(t *testing.T) {
	// As when each question that is late is answered by another resolver sooner.
	for name, tt := range map[string]struct {
		script dnstest.Script
		want   State
	}{
		"lost": {dnstest.Drop, Suspect},
		"slow": {dnstest.Delay(100*time.Millisecond, dnstest.A("192.0.2.1")), Sound},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			var mu sync.Mutex
			late := func() bool {
				mu.Lock()
				defer mu.Unlock()
				n++
				return n%4 == 0
			}
			up := dnstest.New(t, func(q *dnstest.Query) {
				if late() {
					tt.script(q)
					return
				}
				dnstest.A("192.0.2.1")(q)
			})
			r := open(t, up)
			left := 0
			for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && r.State() != Suspect && left < 60; {
				ctx, cancel := context.WithCancel(context.Background())
				timer := time.AfterFunc(20*time.Millisecond, cancel)
				if _, err := r.Exchange(ctx, Question{Msg: question("example.org.")}); errors.Is(err, ErrCanceled) {
					left++
				}
				timer.Stop()
				cancel()
			}
			if got := r.State(); got != tt.want {
				t.Errorf("%s after %d questions that were given up, want %s", got, left, tt.want)
			}
		})
	}
}
