package upstream

import (
	"errors"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sender puts several datagrams of one socket into one system call, sendmmsg(2). It belongs to one goroutine.
type sender struct {
	count   int
	errno   syscall.Errno
	headers [burstSize]unix.Mmsghdr
	vectors [burstSize]unix.Iovec
	attempt func(fd uintptr) bool
}

// send sends postings, at most burstSize, whose bytes lie in wire from begin on. What the socket has no room for is lost, as
// the network might have lost it: it is sent again when no reply comes. An error is the kernel's about the socket; there is
// none for one that has been closed meanwhile.
func (s *sender) send(conn *net.UDPConn, wire []byte, postings []posting, begin int) error {
	raw, err := conn.SyscallConn()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.attempt == nil {
		s.attempt = s.once // bound once: a method value costs an allocation
	}
	for i, p := range postings {
		s.vectors[i].Base = &wire[begin]
		s.vectors[i].SetLen(p.end - begin)
		s.headers[i].Hdr.Iov = &s.vectors[i]
		s.headers[i].Hdr.SetIovlen(1)
		begin = p.end
	}
	s.count, s.errno = len(postings), 0
	err = raw.Write(s.attempt)
	for i := range postings {
		s.vectors[i].Base = nil
	}
	if err == nil && s.errno != 0 && s.errno != unix.EAGAIN && s.errno != unix.ENOBUFS {
		err = s.errno
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// once makes the system calls for one batch. It implements the callback of syscall.RawConn.Write, which wants true when
// nothing is left to wait for.
func (s *sender) once(fd uintptr) bool {
	for sent := 0; sent < s.count; {
		n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&s.headers[sent])), uintptr(s.count-sent),
			unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			sent += int(n)
		case unix.EINTR:
		default:
			s.errno = errno
			return true
		}
	}
	return true
}
