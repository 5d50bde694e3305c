package mmsg

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Received makes the datagram that a socket would have received with these bytes from that address: for tests of what
// answers datagrams. An IPv4 address is that of a socket of IPv4. What is longer than MaxDatagram is cut off.
func Received(data []byte, from netip.AddrPort) *Datagram {
	d := datagrams.Get().(*Datagram)
	d.n = copy(d.buf[:], data)
	p := &d.From
	*p = Peer{}
	binary.BigEndian.PutUint16(p.name[2:], from.Port())
	if ip := from.Addr(); ip.Is4() {
		p.nameLen = unix.SizeofSockaddrInet4
		binary.NativeEndian.PutUint16(p.name[:], unix.AF_INET)
		copy(p.name[4:], ip.AsSlice())
	} else {
		p.nameLen = unix.SizeofSockaddrInet6
		binary.NativeEndian.PutUint16(p.name[:], unix.AF_INET6)
		copy(p.name[8:], ip.AsSlice())
	}
	return d
}
