//go:build !unix

package upstream

import (
	"net"

	"github.com/miekg/dns"
)

// receiver reads the datagrams of one socket.
type receiver struct {
	conn *net.UDPConn
	buf  [dns.MaxMsgSize]byte // takes any datagram: one that is too small cuts a reply without saying so
}

func newReceiver(conn *net.UDPConn) *receiver { return &receiver{conn: conn} }

// each calls deliver for each datagram as it comes, until deliver returns false (and each nil) or reading fails. The
// datagram is valid during the call.
func (r *receiver) each(deliver func([]byte) bool) error {
	for {
		n, err := r.conn.Read(r.buf[:])
		if err != nil {
			return err
		}
		if !deliver(r.buf[:n]) {
			return nil
		}
	}
}
