package mmsg

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// discard is the port of the discard service (RFC 863): nobody sends from it.
const discard = 9

// Leave has the kernel give the socket no more datagrams, while it keeps those that it has and can go on sending. What
// comes in goes to the other sockets of the address, or, where there are none, its sender is told.
//
// It connects the socket to a peer that never sends. A connected socket is given what its peer sends and nothing else
// (Linux 5.4; earlier, the hash over a group may still choose one). A program that steers chooses as it likes, so it
// must be gone before.
func (s *Socket) Leave() error {
	return s.control(func(fd int) error {
		peers := []unix.Sockaddr{&unix.SockaddrInet4{Port: discard, Addr: [4]byte{127, 0, 0, 1}}}
		ip := s.LocalAddr().IP
		if !s.v6 && !ip.IsUnspecified() {
			peers = []unix.Sockaddr{&unix.SockaddrInet4{Port: discard, Addr: [4]byte(ip.To4())}}
		}
		if s.v6 {
			peers = []unix.Sockaddr{
				&unix.SockaddrInet6{Port: discard, Addr: [16]byte{15: 1}},                            // ::1
				&unix.SockaddrInet6{Port: discard, Addr: [16]byte{10: 255, 11: 255, 12: 127, 15: 1}}, // where IPv6 is off
			}
			if !ip.IsUnspecified() {
				peers = []unix.Sockaddr{&unix.SockaddrInet6{Port: discard, Addr: [16]byte(ip.To16()), ZoneId: s.scope()}}
			}
		}
		var err error
		for _, peer := range peers {
			if err = unix.Connect(fd, peer); err == nil {
				return nil
			}
		}
		return fmt.Errorf("leaving the sockets of an address: %w", err)
	})
}
