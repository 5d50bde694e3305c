package mmsg

import (
	"encoding/binary"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sizeofName    = unix.SizeofSockaddrInet6
	sizeofControl = unix.SizeofCmsghdr + 24 // an IPV6_PKTINFO of 20 bytes, padded; an IP_PKTINFO of 12 is shorter
)

// Peer is where a datagram came from, and by which of our addresses it reached us: all that a reply needs to go
// back from the address that was asked. It is in the kernel's form, holds no pointers and may be copied.
type Peer struct {
	control    [sizeofControl]byte // struct cmsghdr and what it heads; first, for its alignment
	name       [sizeofName]byte    // struct sockaddr_in or sockaddr_in6
	nameLen    uint8
	controlLen uint8
	_          [0]uint64 // aligns control
}

// Store writes the remote address into a, whose IP will lie in ip: 4 bytes for a socket of IPv4, 16 for one of IPv6,
// where IPv4 comes mapped, as in the net package.
func (p *Peer) Store(a *net.UDPAddr, ip *[16]byte) {
	a.Port = int(binary.BigEndian.Uint16(p.name[2:4]))
	if p.nameLen == unix.SizeofSockaddrInet4 {
		a.IP = ip[:copy(ip[:], p.name[4:8])]
		return
	}
	a.IP = ip[:copy(ip[:], p.name[8:24])]
	if scope := binary.NativeEndian.Uint32(p.name[24:28]); scope != 0 {
		a.Zone = zone(int(scope))
	}
}

// keepSource turns the control message of a datagram that came in into that of its reply: the same address as
// source, and no interface, which the route shall choose. Whatever is no address of ours is dropped; the kernel
// chooses the source then.
func (p *Peer) keepSource() {
	if p.controlLen < unix.SizeofCmsghdr {
		p.controlLen = 0
		return
	}
	h := p.header()
	info := p.control[unix.SizeofCmsghdr:]
	switch {
	case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && h.Len == unix.SizeofCmsghdr+unix.SizeofInet4Pktinfo:
		clear(info[:4]) // struct in_pktinfo: interface, our address, destination in the header
	case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_PKTINFO && h.Len == unix.SizeofCmsghdr+unix.SizeofInet6Pktinfo:
		clear(info[16:20]) // struct in6_pktinfo: our address, interface
	default:
		p.controlLen = 0
	}
}

// header is that of the control message.
func (p *Peer) header() *unix.Cmsghdr { return (*unix.Cmsghdr)(unsafe.Pointer(&p.control[0])) }
