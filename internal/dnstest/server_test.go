package dnstest

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ask(t *testing.T, s *Server, proto string) (*dns.Msg, error) {
	t.Helper()
	c := &dns.Client{Net: proto, Timeout: 2 * time.Second}
	if proto == "tcp-tls" {
		c.TLSConfig = s.ClientTLS()
	}
	m := new(dns.Msg).SetQuestion("Example.ORG.", dns.TypeA)
	reply, _, err := c.Exchange(m, s.Addr().String())
	return reply, err
}

func TestAnswersOverEveryTransport(t *testing.T) {
	plain, secure := New(t, A("192.0.2.1")), NewTLS(t, A("192.0.2.1"))
	for proto, s := range map[string]*Server{"udp": plain, "tcp": plain, "tcp-tls": secure} {
		reply, err := ask(t, s, proto)
		if err != nil {
			t.Fatalf("%s: %v", proto, err)
		}
		if len(reply.Answer) != 1 || reply.Answer[0].(*dns.A).A.String() != "192.0.2.1" {
			t.Errorf("%s: got %v", proto, reply)
		}
	}
	for proto, s := range map[string]*Server{"udp": plain, "tcp": plain, "tls": secure} {
		if q, c := s.Questions(proto), s.Conns(proto); q != 1 || c != 1 {
			t.Errorf("%s: counted %d questions on %d connections, want 1 on 1", proto, q, c)
		}
	}
}

func TestScripts(t *testing.T) {
	exchange := func(t *testing.T, script Script) (*dns.Msg, error) {
		t.Helper()
		s := New(t, script)
		conn, err := net.Dial("udp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		wire, _ := new(dns.Msg).SetQuestion("example.org.", dns.TypeA).Pack()
		wire[0], wire[1] = 0x12, 0x34
		conn.Write(wire)
		conn.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		buf := make([]byte, 512)
		n, err := conn.Read(buf)
		if err != nil {
			return nil, err
		}
		m := new(dns.Msg)
		return m, m.Unpack(buf[:n])
	}
	for name, tt := range map[string]struct {
		script Script
		want   func(*dns.Msg) bool
	}{
		"truncated":      {Truncated, func(m *dns.Msg) bool { return m.Truncated && len(m.Answer) == 0 }},
		"wrong ID":       {WrongID, func(m *dns.Msg) bool { return m.Id != 0x1234 }},
		"wrong question": {WrongQuestion, func(m *dns.Msg) bool { return m.Question[0].Name == "not-asked.invalid." }},
		"rcode":          {Rcode(dns.RcodeRefused), func(m *dns.Msg) bool { return m.Rcode == dns.RcodeRefused }},
		"delay":          {Delay(time.Millisecond, A("192.0.2.1")), func(m *dns.Msg) bool { return len(m.Answer) == 1 }},
		"raw":            {Raw([]byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0}), func(m *dns.Msg) bool { return m.Id == 0x1234 }},
		"several":        {Several(WrongID, A("192.0.2.1")), func(m *dns.Msg) bool { return m.Id != 0x1234 }},
		"over":           {Over(map[string]Script{"udp": A("192.0.2.1")}), func(m *dns.Msg) bool { return len(m.Answer) == 1 }},
		"named": {Named(map[string]Script{"example.org.": A("192.0.2.1"), "": Rcode(5)}),
			func(m *dns.Msg) bool { return len(m.Answer) == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := exchange(t, tt.script); err != nil || !tt.want(m) {
				t.Errorf("got %v, %v", m, err)
			}
		})
	}
	t.Run("drop", func(t *testing.T) {
		if _, err := exchange(t, Drop); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want no reply", err)
		}
	})
}

func TestScriptsTakeTurnsAndCanBeSwapped(t *testing.T) {
	s := New(t, Turns(A("192.0.2.1"), A("192.0.2.2")))
	want := func(addr string) {
		t.Helper()
		reply, err := ask(t, s, "udp")
		if err != nil || reply.Answer[0].(*dns.A).A.String() != addr {
			t.Errorf("got %v, %v, want %s", reply, err, addr)
		}
	}
	want("192.0.2.1")
	want("192.0.2.2")
	want("192.0.2.2")
	s.Use(A("192.0.2.3"))
	want("192.0.2.3")
}

func TestConnectionsEndAsTheScriptSays(t *testing.T) {
	for name, tt := range map[string]struct {
		script   Script
		greeting Greeting
		want     error
	}{
		"close":   {Close, Serve, io.EOF},
		"reset":   {Reset, Serve, syscall.ECONNRESET},
		"hang up": {A("192.0.2.1"), HangUp, nil}, // EOF or reset, by the timing of the write
		"hang":    {A("192.0.2.1"), Hang, os.ErrDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t, tt.script)
			s.Greet(tt.greeting)
			conn, err := dns.DialTimeout("tcp", s.Addr().String(), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.WriteMsg(new(dns.Msg).SetQuestion("example.org.", dns.TypeA))
			conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
			_, err = conn.ReadMsg()
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestHandshakeHangs(t *testing.T) {
	s := NewTLS(t, A("192.0.2.1"))
	s.Greet(Hang)
	dialer := &net.Dialer{Timeout: 300 * time.Millisecond}
	_, err := tls.DialWithDialer(dialer, "tcp", s.Addr().String(), s.ClientTLS())
	var netErr net.Error
	if !errors.As(err, &netErr) || !netErr.Timeout() {
		t.Errorf("got %v, want a time-out", err)
	}
}

func TestCertificateIsForTheNamesGivenOnly(t *testing.T) {
	s := NewTLS(t, A("192.0.2.1"), "dns.example")
	if _, err := ask(t, s, "tcp-tls"); err == nil {
		t.Error("a certificate for dns.example was good for 127.0.0.1")
	}
	config := s.ClientTLS()
	config.ServerName = "dns.example"
	conn, err := tls.Dial("tcp", s.Addr().String(), config)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestRelayLosesConnections(t *testing.T) {
	s := New(t, A("192.0.2.1"))
	r := NewRelay(t, s.Addr())
	exchange := func(conn *dns.Conn) error {
		conn.WriteMsg(new(dns.Msg).SetQuestion("example.org.", dns.TypeA))
		conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		_, err := conn.ReadMsg()
		return err
	}
	old, err := dns.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := exchange(old); err != nil {
		t.Fatalf("before: %v", err)
	}
	r.Lose()
	if err := exchange(old); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a lost connection: got %v, want silence", err)
	}
	fresh, err := dns.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if err := exchange(fresh); err != nil {
		t.Errorf("a new connection: %v", err)
	}
	if r.Conns() != 2 {
		t.Errorf("counted %d connections, want 2", r.Conns())
	}
}

func TestStopEndsScriptsThatHang(t *testing.T) {
	s := New(t, func(q *Query) { <-q.Done() })
	conn, err := net.Dial("udp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	wire, _ := new(dns.Msg).SetQuestion("example.org.", dns.TypeA).Pack()
	conn.Write(wire)
	WaitFor(t, "the question", func() bool { return s.Questions("udp") == 1 })
	s.Stop()
}
