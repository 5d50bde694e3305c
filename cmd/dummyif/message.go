//go:build linux

package main

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// A request is a route netlink message of type kind without its header (rtnetlink(7)).
type request struct {
	kind  uint16
	flags uint16 // beside NLM_F_REQUEST and NLM_F_ACK
	body  []byte
}

// newLink asks for a new interface of a kind that needs no more settings.
func newLink(name, kind string) request {
	body := make([]byte, unix.SizeofIfInfomsg)
	body = attribute(body, unix.IFLA_IFNAME, append([]byte(name), 0))
	body = attribute(body, unix.IFLA_LINKINFO, attribute(nil, unix.IFLA_INFO_KIND, []byte(kind)))
	return request{unix.RTM_NEWLINK, unix.NLM_F_CREATE | unix.NLM_F_EXCL, body}
}

// setUp asks for IFF_UP on an interface.
func setUp(index int) request {
	body := make([]byte, 4, unix.SizeofIfInfomsg) // family, padding, type
	body = binary.NativeEndian.AppendUint32(body, uint32(index))
	body = binary.NativeEndian.AppendUint32(body, unix.IFF_UP) // flags
	body = binary.NativeEndian.AppendUint32(body, unix.IFF_UP) // which of them to change
	return request{unix.RTM_NEWLINK, 0, body}
}

// addAddress asks for an address on an interface. An IPv6 address is used at once: on an interface without neighbours
// nobody else can have it.
func addAddress(index int, p netip.Prefix) request {
	family, flags := byte(unix.AF_INET), byte(0)
	if p.Addr().Is6() {
		family, flags = unix.AF_INET6, unix.IFA_F_NODAD
	}
	body := []byte{family, byte(p.Bits()), flags, unix.RT_SCOPE_UNIVERSE}
	body = binary.NativeEndian.AppendUint32(body, uint32(index))
	body = attribute(body, unix.IFA_LOCAL, p.Addr().AsSlice())
	body = attribute(body, unix.IFA_ADDRESS, p.Addr().AsSlice())
	return request{unix.RTM_NEWADDR, unix.NLM_F_CREATE | unix.NLM_F_EXCL, body}
}

// attribute appends an attribute, padded to a multiple of four bytes.
func attribute(b []byte, kind uint16, value []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(unix.SizeofRtAttr+len(value)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, value...)
	for len(b)%unix.RTA_ALIGNTO != 0 {
		b = append(b, 0)
	}
	return b
}

// message is the request as it goes over the socket.
func (r request) message(sequence uint32) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(r.body)))
	b = binary.NativeEndian.AppendUint16(b, r.kind)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST|unix.NLM_F_ACK|r.flags)
	b = binary.NativeEndian.AppendUint32(b, sequence)
	b = binary.NativeEndian.AppendUint32(b, 0) // the kernel fills in the sender
	return append(b, r.body...)
}
