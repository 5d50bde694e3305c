package mmsg

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/coredns/coredns/plugin/pkg/reuseport"

	"golang.org/x/sys/unix"
)

// receiveBuffer is asked for as the socket's receive buffer, in bytes; the kernel gives at most net.core.rmem_max. A
// pause of the process, for the collector or for want of a processor, then overflows no sooner than it must, and
// what waits when the buffer is full is still answered before its client asks again.
const receiveBuffer = 1 << 20

// Socket is one UDP socket that may share its address with others.
type Socket struct {
	conn *net.UDPConn
	raw  syscall.RawConn
	v6   bool // AF_INET6, with IPv4 mapped into it
}

// Listen opens a socket on addr, a host and port as CoreDNS gives them to its own listeners, so that the socket joins
// their group. The error is ErrUnsupported where batches are not to be had, else the kernel's.
func Listen(addr string) (*Socket, error) {
	if err := probe(); err != nil {
		return nil, err
	}
	p, err := reuseport.ListenPacket("udp", addr)
	if err != nil {
		return nil, err
	}
	conn, ok := p.(*net.UDPConn)
	if !ok {
		_ = p.Close() // nobody has used it
		return nil, ErrUnsupported
	}
	s := &Socket{conn: conn}
	if s.raw, err = conn.SyscallConn(); err == nil {
		err = s.control(s.configure)
	}
	if err != nil {
		_ = conn.Close() // the first error tells more
		return nil, err
	}
	return s, nil
}

// configure sets the options of a new socket.
func (s *Socket) configure(fd int) error {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return fmt.Errorf("asking for the family of the socket: %w", err)
	}
	s.v6 = domain == unix.AF_INET6
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer) // the default serves as well
	if !s.LocalAddr().IP.IsUnspecified() {
		return nil // replies leave from the one address that the socket is bound to
	}
	if s.v6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	} else {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
	}
	if err != nil {
		return fmt.Errorf("asking for the address that questions are sent to: %w", err)
	}
	return nil
}

// LocalAddr is the address that the socket is bound to. Nobody may change it.
func (s *Socket) LocalAddr() *net.UDPAddr { return s.conn.LocalAddr().(*net.UDPAddr) }

// SetReadDeadline ends reads that wait at t, also one that waits already.
func (s *Socket) SetReadDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }

// SetWriteDeadline ends writes that wait for room at t.
func (s *Socket) SetWriteDeadline(t time.Time) error { return s.conn.SetWriteDeadline(t) }

// Close closes the socket. What the kernel had queued on it is lost, and the last socket of its group takes its
// number.
func (s *Socket) Close() error { return s.conn.Close() }

// control calls f with the descriptor.
func (s *Socket) control(f func(fd int) error) error {
	var err error
	if cerr := s.raw.Control(func(fd uintptr) { err = f(int(fd)) }); cerr != nil {
		return cerr
	}
	return err
}

// Steer makes the kernel give every datagram for the address to one of the count sockets of the group that joined it
// after the first ones. It needs Linux 4.5 and no privilege, and holds for the whole group until the next Steer or
// Unsteer, also after the socket is closed.
func (s *Socket) Steer(first, count int) error {
	raw, err := program(first, count)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, ins := range raw {
		filter[i] = unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K}
	}
	return s.control(func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF,
			&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
	})
}

// Unsteer leaves the choice to the kernel's hash. It needs Linux 5.3; without a program it does nothing.
func (s *Socket) Unsteer() error {
	err := s.control(func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_REUSEPORT_BPF, 0)
	})
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// scope is the interface of a link-local address, 0 for others.
func (s *Socket) scope() uint32 {
	ifi, err := net.InterfaceByName(s.LocalAddr().Zone)
	if err != nil {
		return 0
	}
	return uint32(ifi.Index)
}
