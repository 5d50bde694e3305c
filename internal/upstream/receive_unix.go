//go:build unix

package upstream

import (
	"net"
	"sync"
	"syscall"

	"github.com/miekg/dns"
)

// datagrams holds buffers that take any datagram: one that is too small cuts a reply without saying so. A socket has
// one only while a datagram is being read, so that 64 idle sockets hold none.
var datagrams = sync.Pool{New: func() any { return new([dns.MaxMsgSize]byte) }}

// receiver reads the datagrams of one socket.
type receiver struct {
	raw     syscall.RawConn
	deliver func([]byte) bool
	err     error
	poll    func(fd uintptr) bool // bound once: a method value costs an allocation
}

func newReceiver(conn *net.UDPConn) *receiver {
	r := new(receiver)
	r.raw, r.err = conn.SyscallConn()
	r.poll = r.drain
	return r
}

// each calls deliver for each datagram as it comes, until deliver returns false (and each nil) or reading fails. The
// datagram is valid during the call.
func (r *receiver) each(deliver func([]byte) bool) error {
	if r.err != nil {
		return r.err
	}
	r.deliver = deliver
	if err := r.raw.Read(r.poll); err != nil {
		return err
	}
	err := r.err
	r.err = nil
	return err
}

// drain reads until there is nothing more; it implements the callback of syscall.RawConn.Read, which wants true when
// reading is over and false when it shall be called again once the socket is readable.
func (r *receiver) drain(fd uintptr) bool {
	buf := datagrams.Get().(*[dns.MaxMsgSize]byte)
	defer datagrams.Put(buf)
	for {
		n, err := syscall.Read(int(fd), buf[:])
		switch err {
		case nil:
			if !r.deliver(buf[:n]) {
				return true
			}
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			r.err = err
			return true
		}
	}
}
