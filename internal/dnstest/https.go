package dnstest

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/miekg/dns"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// NewHTTPS starts a server with DNS over HTTPS at any path, with HTTP/2 and HTTP/1.1. See NewTLS for names.
func NewHTTPS(t testing.TB, script Script, names ...string) *Server {
	t.Helper()
	return newHTTPS(t, script, true, names)
}

// NewHTTPS1 is NewHTTPS with HTTP/1.1 only.
func NewHTTPS1(t testing.TB, script Script, names ...string) *Server {
	t.Helper()
	return newHTTPS(t, script, false, names)
}

func newHTTPS(t testing.TB, script Script, http2 bool, names []string) *Server {
	t.Helper()
	s := newServer(t, script)
	s.ca = NewCA(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().(*net.TCPAddr).AddrPort()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(http2)
	web := &http.Server{
		Protocols: protocols,
		TLSConfig: s.ca.Server(t, names...),
		Handler:   s.answerHTTP("https"),
		ErrorLog:  quiet,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, &webConn{number: s.connected("https"), tcp: conn.(*tls.Conn).NetConn()})
		},
		ConnState: func(conn net.Conn, state http.ConnState) {
			switch tcp := conn.(*tls.Conn).NetConn(); state {
			case http.StateNew:
				s.track(tcp)
			case http.StateClosed:
				s.untrack(tcp)
			}
		},
	}
	s.closing = append(s.closing, func() { web.Close() })
	s.running.Go(func() { web.ServeTLS(&greeter{Listener: listener, s: s}, "", "") })
	return s
}

// NewHTTPS3 starts a server with DNS over HTTPS at any path, with HTTP/3. See NewTLS for names.
func NewHTTPS3(t testing.TB, script Script, names ...string) *Server {
	t.Helper()
	s := newServer(t, script)
	s.ca = NewCA(t)
	socket := s.listenQUIC(t)
	web := &http3.Server{
		TLSConfig: http3.ConfigureTLSConfig(s.ca.Server(t, names...)),
		Handler:   s.answerHTTP("https3"),
		ConnContext: func(ctx context.Context, conn *quic.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, &webConn{number: s.connected("https3"), quic: conn})
		},
	}
	s.closing = append(s.closing, func() { web.Close(); socket.Close() })
	s.running.Go(func() { web.Serve(socket) })
	return s
}

// connKey is the context key of the *webConn that a request came over.
type connKey struct{}

type webConn struct {
	number int
	tcp    net.Conn
	quic   *quic.Conn
}

func (c *webConn) close() {
	if c.tcp != nil {
		c.tcp.Close()
		return
	}
	c.quic.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
}

func (c *webConn) reset() {
	if c.tcp != nil {
		abort(c.tcp)
		return
	}
	c.quic.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeInternalError), "")
}

// answerHTTP hands questions to the script (RFC 8484). The request stays open until the script has sent something.
func (s *Server) answerHTTP(proto string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := r.Context().Value(connKey{}).(*webConn)
		var wire []byte
		var err error
		if r.Method == http.MethodGet {
			wire, err = base64.RawURLEncoding.DecodeString(r.URL.Query().Get("dns"))
		} else {
			wire, err = io.ReadAll(io.LimitReader(r.Body, dns.MaxMsgSize))
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		replies := make(chan []byte, 1)
		client, _ := netip.ParseAddrPort(r.RemoteAddr)
		w.Header().Set("Content-Type", "application/dns-message")
		s.handle(&Query{
			Wire:    wire,
			Proto:   proto,
			Conn:    conn.number,
			Client:  client,
			Request: r,
			Header:  w.Header(),
			Status:  w.WriteHeader,
			send: func(wire []byte) {
				select {
				case replies <- wire:
				default: // there is one response to a request
				}
			},
			close: conn.close,
			reset: conn.reset,
		})
		select {
		case wire := <-replies:
			w.Write(wire)
		case <-r.Context().Done():
		case <-s.ctx.Done():
		}
	})
}

// HTTP answers with this status and media type, and otherwise as s does.
func HTTP(status int, mediaType string, s Script) Script {
	return func(q *Query) {
		q.Header.Set("Content-Type", mediaType)
		q.Status(status)
		s(q)
	}
}

// greeter applies the greeting of a server to what is accepted.
type greeter struct {
	net.Listener
	s *Server
}

func (g *greeter) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		switch Greeting(g.s.accept.Load()) {
		case Serve:
			return conn, nil
		case Hang:
			g.s.track(conn)
			g.s.running.Go(func() {
				defer g.s.untrack(conn)
				<-g.s.ctx.Done()
			})
		case HangUp:
			conn.Close()
		case Break:
			abort(conn)
		}
	}
}
