//go:build !linux

package upstream

import (
	"errors"
	"net"
)

// sender sends datagrams one by one where the system has no call for several.
type sender struct{}

// send sends postings, whose bytes lie in wire from begin on. An error is the system's about the socket; there is none for
// one that has been closed meanwhile.
func (*sender) send(conn *net.UDPConn, wire []byte, postings []posting, begin int) error {
	for _, p := range postings {
		if _, err := conn.Write(wire[begin:p.end]); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		begin = p.end
	}
	return nil
}
