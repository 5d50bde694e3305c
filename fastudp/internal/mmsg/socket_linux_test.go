package mmsg

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Second

func listen(t *testing.T, addr string) *Socket {
	t.Helper()
	s, err := Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return s
}

// to is where a socket can be reached, host for one on a wildcard address.
func to(s *Socket, host string) string { return net.JoinHostPort(host, fmt.Sprint(s.LocalAddr().Port)) }

func dial(t *testing.T, addr string) *net.UDPConn {
	t.Helper()
	c, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(patience))
	return c.(*net.UDPConn)
}

func TestBatchesKeepContentsApart(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	c := dial(t, to(s, "127.0.0.1"))
	r, w := s.NewReader(), s.NewWriter()
	const n = 200
	for i := range n {
		if _, err := fmt.Fprintf(c, "datagram %d %s", i, strings.Repeat("x", i)); err != nil {
			t.Fatal(err)
		}
	}
	next, largest := 0, 0
	var kept []*Datagram // while others come in
	for next < n {
		batch, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, len(batch))
		for _, d := range batch {
			kept = append(kept, d)
			next++
		}
	}
	if largest != MaxBatch {
		t.Errorf("the largest batch has %d datagrams, want %d with %d queued", largest, MaxBatch, n)
	}
	var messages []Message
	for i, d := range kept {
		if want := fmt.Sprintf("datagram %d %s", i, strings.Repeat("x", i)); string(d.Bytes()) != want {
			t.Errorf("datagram %d is %q", i, d.Bytes())
		}
		messages = append(messages, Message{Data: []byte(fmt.Sprint("reply ", i)), To: &d.From})
	}
	for sent := 0; sent < n; {
		k, err := w.Write(messages[sent:])
		if err != nil {
			t.Fatal(err)
		}
		sent += k
	}
	buf := make([]byte, 100)
	for i := range n {
		k, err := c.Read(buf)
		if err != nil || string(buf[:k]) != fmt.Sprint("reply ", i) {
			t.Fatalf("reply %d is %q (%v)", i, buf[:k], err)
		}
	}
}

func TestDatagramsHandedOutAreNotWrittenToAgain(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	c := dial(t, to(s, "127.0.0.1"))
	r := s.NewReader()
	held := make(map[*Datagram]string)
	for round := range 50 { // batches of all sizes, so that the depth goes up and down
		want := 1 + round*7%40
		for i := range want {
			_, _ = fmt.Fprintf(c, "%d.%d", round, i)
		}
		for got := 0; got < want; {
			batch, err := r.Read()
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range batch {
				if _, twice := held[d]; twice {
					t.Fatal("a datagram was handed out that its owner had not released")
				}
				held[d] = string(d.Bytes())
				got++
			}
		}
	}
	for d, was := range held {
		if string(d.Bytes()) != was {
			t.Fatalf("%q became %q", was, d.Bytes())
		}
	}
}

func TestRepliesLeaveFromTheAddressAsked(t *testing.T) {
	for _, tt := range []struct{ listen, host string }{
		{":0", "127.0.0.1"}, {":0", "127.4.5.6"}, {":0", "::1"}, {"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"},
	} {
		t.Run(tt.listen+" asked at "+tt.host, func(t *testing.T) {
			s := listen(t, tt.listen)
			c := dial(t, to(s, tt.host)) // connected: it takes replies from that address alone
			if _, err := c.Write([]byte("?")); err != nil {
				t.Fatal(err)
			}
			batch, err := s.NewReader().Read()
			if err != nil {
				t.Fatal(err)
			}
			var a net.UDPAddr
			batch[0].From.Store(&a, new([16]byte))
			if a.String() != c.LocalAddr().String() {
				t.Errorf("datagram from %s, sent from %s", &a, c.LocalAddr())
			}
			if _, err := s.NewWriter().Write([]Message{{Data: []byte("!"), To: &batch[0].From}}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(make([]byte, 10)); err != nil {
				t.Errorf("no reply from the address asked: %v", err)
			}
		})
	}
}

func TestAMessageThatCannotBeSentDoesNotStopTheOthers(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	c := dial(t, to(s, "127.0.0.1"))
	good := Received(nil, c.LocalAddr().(*net.UDPAddr).AddrPort()).From
	bad := good
	bad.name[0], bad.name[1] = 0xFF, 0xFF // no such family
	w := s.NewWriter()
	messages := []Message{{[]byte("1"), &good}, {[]byte("2"), &bad}, {[]byte("3"), &good}}
	if n, err := w.Write(messages); n != 1 || err != nil {
		t.Fatalf("%d sent, %v; want the first", n, err)
	}
	if n, err := w.Write(messages[1:]); n != 0 || err == nil {
		t.Fatalf("%d sent, %v; want an error for the second", n, err)
	}
	if n, err := w.Write(messages[2:]); n != 1 || err != nil {
		t.Fatalf("%d sent, %v; want the third", n, err)
	}
}

func TestASocketThatHasLeftGetsNothingAndCanStillReply(t *testing.T) {
	for _, addr := range []string{"127.0.0.1", "::1", "", "127.0.0.2"} {
		t.Run(addr, func(t *testing.T) {
			host := addr
			if host == "" {
				host = "127.0.0.1"
			}
			first := listen(t, net.JoinHostPort(addr, "0"))
			second := listen(t, net.JoinHostPort(addr, fmt.Sprint(first.LocalAddr().Port)))
			c := dial(t, to(first, host))
			if err := first.Steer(0, 1); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write([]byte("1")); err != nil {
				t.Fatal(err)
			}
			if err := first.Unsteer(); err != nil {
				t.Skipf("this kernel cannot take a program off: %v", err)
			}
			if err := first.Leave(); err != nil {
				t.Fatal(err)
			}
			batch, err := first.NewReader().Read() // what it had before it left
			if err != nil || len(batch) != 1 || string(batch[0].Bytes()) != "1" {
				t.Fatalf("%d datagrams, %v; want the one sent before", len(batch), err)
			}
			// From many ports: a hash over both sockets would choose each half of the time.
			r := second.NewReader()
			for range 20 {
				if _, err := dial(t, to(second, host)).Write([]byte("2")); err != nil {
					t.Fatal(err)
				}
			}
			for got := 0; got < 20; {
				batch, err := r.Read()
				if err != nil {
					t.Fatalf("%d of 20 datagrams came to the socket that stayed: %v", got, err)
				}
				got += len(batch)
			}
			if _, err := first.NewWriter().Write([]Message{{[]byte("!"), &batch[0].From}}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(make([]byte, 10)); err != nil {
				t.Errorf("no reply from the socket that left: %v", err)
			}
		})
	}
}

func TestSteeringGivesTheFirstSocketNothing(t *testing.T) {
	first := listen(t, "127.0.0.1:0")
	addr := first.LocalAddr().String()
	others := []*Socket{listen(t, addr), listen(t, addr)}
	if n, err := Sharing(first.LocalAddr()); err != nil || n != 3 {
		t.Errorf("%d sockets on %s, %v; want 3", n, addr, err)
	}
	if err := others[0].Steer(1, 2); err != nil {
		t.Fatal(err)
	}
	c := dial(t, addr) // one client alone: the kernel's hash would give all to one socket
	for range 64 {
		if _, err := c.Write([]byte("?")); err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for i, s := range others {
		batch, err := s.NewReader().Read()
		if err != nil {
			t.Fatalf("nothing came to socket %d: %v", i+1, err)
		}
		total += len(batch)
	}
	_ = first.SetReadDeadline(time.Now().Add(time.Millisecond))
	if batch, err := first.NewReader().Read(); err == nil {
		t.Errorf("%d datagrams came to the first socket", len(batch))
	}
	if total == 0 {
		t.Error("nothing came at all")
	}
}

func TestReadsEndWithTheDeadlineAndTheSocket(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	r := s.NewReader()
	_ = s.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := r.Read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v, want os.ErrDeadlineExceeded", err)
	}
	_ = s.SetReadDeadline(time.Time{})
	ended := make(chan error)
	go func() { _, err := r.Read(); ended <- err }()
	_ = s.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v, want net.ErrClosed", err)
	}
}

func TestCountingReadsTheKernelsTables(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  100: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 0
  100: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 2 2 0 0
  101: 0200007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 3 2 0 0
  102: 0100007F:0135 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4 2 0 0
`
	if n, err := countBound(strings.NewReader(table), "0100007F:0035"); n != 2 || err != nil {
		t.Errorf("%d sockets, %v; want 2", n, err)
	}
	for _, s := range []string{"127.0.0.1:53", "[::1]:53", "[2001:db8::1]:5353"} {
		a := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s))
		if got := procAddr(a); !strings.HasSuffix(got, fmt.Sprintf(":%04X", a.Port)) || len(got) != 2*len(a.IP)+5 {
			t.Errorf("%s is written %s", s, got)
		}
	}
}

func TestForeignControlMessagesAreNotSentBack(t *testing.T) {
	for _, tt := range []struct {
		name        string
		level, kind int32
		length      uint64
		size        uint8
		wantKept    bool
	}{
		{"IPv4", unix.IPPROTO_IP, unix.IP_PKTINFO, unix.SizeofCmsghdr + 12, unix.SizeofCmsghdr + 16, true},
		{"IPv6", unix.IPPROTO_IPV6, unix.IPV6_PKTINFO, unix.SizeofCmsghdr + 20, sizeofControl, true},
		{"nothing", 0, 0, 0, 0, false},
		{"too short", unix.IPPROTO_IP, unix.IP_PKTINFO, unix.SizeofCmsghdr + 4, unix.SizeofCmsghdr + 8, false},
		{"another kind", unix.SOL_SOCKET, unix.SO_TIMESTAMP, unix.SizeofCmsghdr + 16, unix.SizeofCmsghdr + 16, false},
	} {
		p := Peer{controlLen: tt.size}
		h := p.header()
		h.Level, h.Type = tt.level, tt.kind
		h.SetLen(int(tt.length))
		for i := unix.SizeofCmsghdr; i < len(p.control); i++ {
			p.control[i] = 1
		}
		p.keepSource()
		if kept := p.controlLen != 0; kept != tt.wantKept {
			t.Errorf("%s: kept %v, want %v", tt.name, kept, tt.wantKept)
		}
		at := unix.SizeofCmsghdr // of the interface
		if tt.kind == unix.IPV6_PKTINFO {
			at += 16
		}
		if tt.wantKept && [4]byte(p.control[at:at+4]) != [4]byte{} {
			t.Errorf("%s: the reply is bound to an interface", tt.name)
		}
	}
}
