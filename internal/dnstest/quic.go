package dnstest

import (
	"encoding/binary"
	"io"
	"log"
	"net"
	"testing"

	"github.com/quic-go/quic-go"
)

// quiet swallows what the servers of the standard library would write to standard error when a test breaks a connection.
var quiet = log.New(io.Discard, "", 0)

// NewQUIC starts a server with DNS over QUIC. See NewTLS for names.
func NewQUIC(t testing.TB, script Script, names ...string) *Server {
	t.Helper()
	s := newServer(t, script)
	s.ca = NewCA(t)
	socket := s.listenQUIC(t)
	config := s.ca.Server(t, names...)
	config.NextProtos = []string{"doq"}
	transport := &quic.Transport{Conn: socket}
	listener, err := transport.Listen(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.closing = append(s.closing, func() { listener.Close(); transport.Close(); socket.Close() })
	s.running.Go(func() {
		for {
			conn, err := listener.Accept(s.ctx)
			if err != nil {
				return
			}
			number := s.connected("quic")
			s.running.Go(func() { s.serveQUIC(conn, number) })
		}
	})
	return s
}

func (s *Server) listenQUIC(t testing.TB) *net.UDPConn {
	t.Helper()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s.addr = socket.LocalAddr().(*net.UDPAddr).AddrPort()
	return socket
}

// serveQUIC reads one question from each stream (RFC 9250, section 4.2).
func (s *Server) serveQUIC(conn *quic.Conn, number int) {
	defer conn.CloseWithError(0, "")
	for {
		stream, err := conn.AcceptStream(s.ctx)
		if err != nil {
			return
		}
		s.running.Go(func() {
			wire, err := readMessage(stream)
			if err != nil {
				return
			}
			s.handle(&Query{
				Wire:   wire,
				Proto:  "quic",
				Conn:   number,
				Client: conn.RemoteAddr().(*net.UDPAddr).AddrPort(),
				Stream: stream,
				send: func(wire []byte) {
					stream.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(wire))), wire...))
					stream.Close()
				},
				close: func() { conn.CloseWithError(0, "") },
				reset: func() { stream.CancelWrite(1) },
			})
		})
	}
}
