package mmsg

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// PeerOf makes the peer for an address, for replies to nobody's question: tests, for the most part. A socket of IPv6
// wants IPv4 mapped.
func PeerOf(a netip.AddrPort) Peer {
	var p Peer
	if a.Addr().Is4() {
		p.nameLen = unix.SizeofSockaddrInet4
		binary.NativeEndian.PutUint16(p.name[:], unix.AF_INET)
		ip := a.Addr().As4()
		copy(p.name[4:], ip[:])
	} else {
		p.nameLen = unix.SizeofSockaddrInet6
		binary.NativeEndian.PutUint16(p.name[:], unix.AF_INET6)
		ip := a.Addr().As16()
		copy(p.name[8:], ip[:])
	}
	binary.BigEndian.PutUint16(p.name[2:], a.Port())
	return p
}
