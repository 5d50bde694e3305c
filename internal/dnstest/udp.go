package dnstest

import (
	"net"
	"net/netip"
	"slices"

	"github.com/miekg/dns"
)

func (s *Server) serveUDP(packets *net.UDPConn) {
	s.closing = append(s.closing, func() { packets.Close() })
	s.running.Go(func() {
		buf := make([]byte, dns.MaxMsgSize)
		for {
			n, client, err := packets.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			s.handle(&Query{
				Wire:   slices.Clone(buf[:n]),
				Proto:  "udp",
				Conn:   s.client(client),
				Client: client,
				send:   func(wire []byte) { packets.WriteToUDPAddrPort(wire, client) },
				close:  func() {},
				reset:  func() {},
			})
		}
	})
}

func (s *Server) client(addr netip.AddrPort) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.clients[addr]; ok {
		return n
	}
	s.conns["udp"]++
	s.clients[addr] = s.conns["udp"]
	return s.conns["udp"]
}
