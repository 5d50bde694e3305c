package dnstest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func TestWebServersAnswer(t *testing.T) {
	query, _ := new(dns.Msg).SetQuestion("example.org.", dns.TypeA).Pack()
	for proto, tt := range map[string]struct {
		server func(testing.TB, Script, ...string) *Server
		client func(*tls.Config) http.RoundTripper
		major  int
	}{
		"https": {NewHTTPS, func(c *tls.Config) http.RoundTripper {
			return &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}
		}, 2},
		"https with HTTP/1.1": {NewHTTPS1, func(c *tls.Config) http.RoundTripper {
			return &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}
		}, 1},
		"https3": {NewHTTPS3, func(c *tls.Config) http.RoundTripper { return &http3.Transport{TLSClientConfig: c} }, 3},
	} {
		t.Run(proto, func(t *testing.T) {
			s := tt.server(t, HTTP(http.StatusNonAuthoritativeInfo, "text/odd", A("192.0.2.1")))
			rt := tt.client(s.ClientTLS())
			client := &http.Client{Transport: rt, Timeout: 5 * time.Second}
			response, err := client.Post("https://"+s.Addr().String()+"/any", "application/dns-message", bytes.NewReader(query))
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			client.CloseIdleConnections()
			if c, ok := rt.(io.Closer); ok {
				c.Close()
			}
			m := new(dns.Msg)
			if err := m.Unpack(body); err != nil || len(m.Answer) != 1 {
				t.Errorf("got %v, %v", m, err)
			}
			if response.StatusCode != http.StatusNonAuthoritativeInfo || response.Header.Get("Content-Type") != "text/odd" || response.ProtoMajor != tt.major {
				t.Errorf("got status %d, header %v, %s", response.StatusCode, response.Header, response.Proto)
			}
			if s.Questions("") != 1 || s.Conns("") != 1 {
				t.Errorf("counted %d questions on %d connections", s.Questions(""), s.Conns(""))
			}
		})
	}
}

func TestQUICServerAnswersThroughARelay(t *testing.T) {
	s := NewQUIC(t, A("192.0.2.1"))
	relay := NewUDPRelay(t, s.Addr())
	config := s.ClientTLS()
	config.NextProtos = []string{"doq"}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := quic.DialAddr(ctx, relay.Addr().String(), config, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseWithError(0, "")
	exchange := func(wait time.Duration) error {
		stream, err := conn.OpenStreamSync(ctx)
		if err != nil {
			return err
		}
		query, _ := new(dns.Msg).SetQuestion("example.org.", dns.TypeA).Pack()
		stream.SetDeadline(time.Now().Add(wait))
		stream.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...))
		stream.Close()
		_, err = readMessage(stream)
		return err
	}
	if err := exchange(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	relay.Lose()
	if err := exchange(200 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a lost flow: got %v, want silence", err)
	}
	if relay.Flows() != 1 {
		t.Errorf("counted %d flows, want 1", relay.Flows())
	}
}

func TestUDPRelayLosesOldFlowsOnly(t *testing.T) {
	s := New(t, A("192.0.2.1"))
	relay := NewUDPRelay(t, s.Addr())
	exchange := func(conn net.Conn) error {
		c := &dns.Conn{Conn: conn}
		c.WriteMsg(new(dns.Msg).SetQuestion("example.org.", dns.TypeA))
		c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		_, err := c.ReadMsg()
		return err
	}
	var conns [2]net.Conn
	for i := range conns {
		conn, err := net.Dial("udp", relay.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns[i] = conn
	}
	if err := exchange(conns[0]); err != nil {
		t.Fatal(err)
	}
	relay.Lose()
	if err := exchange(conns[0]); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a lost flow: got %v, want silence", err)
	}
	if err := exchange(conns[1]); err != nil {
		t.Errorf("a new flow: %v", err)
	}
}
