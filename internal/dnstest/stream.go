package dnstest

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// serveStreams accepts connections until the server stops; config makes them TLS ones.
func (s *Server) serveStreams(listener net.Listener, proto string, config *tls.Config) {
	s.closing = append(s.closing, func() { listener.Close() })
	s.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.track(conn)
			number := s.connected(proto)
			s.running.Go(func() {
				defer s.untrack(conn)
				s.greet(conn, proto, number, config)
			})
		}
	})
}

func (s *Server) greet(conn net.Conn, proto string, number int, config *tls.Config) {
	switch Greeting(s.accept.Load()) {
	case Hang:
		<-s.ctx.Done()
		return
	case HangUp:
		return
	case Break:
		abort(conn)
		return
	}
	if config == nil {
		s.serveStream(conn, conn, proto, number)
		return
	}
	secure := tls.Server(conn, config)
	if secure.HandshakeContext(s.ctx) == nil {
		s.serveStream(secure, conn, proto, number)
	}
}

// serveStream reads questions until the connection ends. conn is what carries the messages, tcp what is below.
func (s *Server) serveStream(conn, tcp net.Conn, proto string, number int) {
	var write sync.Mutex
	client := tcp.RemoteAddr().(*net.TCPAddr).AddrPort()
	in := bufio.NewReader(conn)
	for {
		wire, err := readMessage(in)
		if err != nil {
			return
		}
		s.handle(&Query{
			Wire:   wire,
			Proto:  proto,
			Conn:   number,
			Client: client,
			send: func(wire []byte) {
				write.Lock()
				defer write.Unlock()
				conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(wire))), wire...))
			},
			close: func() { conn.Close() },
			reset: func() { abort(tcp) },
		})
	}
}

func readMessage(r io.Reader) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	wire := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(r, wire)
	return wire, err
}

// abort makes the kernel send an RST.
func abort(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

func (s *Server) track(conn net.Conn) {
	s.mu.Lock()
	s.open[conn] = struct{}{}
	s.mu.Unlock()
	if s.ctx.Err() != nil {
		conn.Close() // accepted while Stop went through the others
	}
}

func (s *Server) untrack(conn net.Conn) {
	conn.Close()
	s.mu.Lock()
	delete(s.open, conn)
	s.mu.Unlock()
}
