package mmsg

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reader receives batches from one socket. It belongs to one goroutine.
type Reader struct {
	raw     syscall.RawConn
	control bool // the socket notes the address that was asked

	depth int // datagrams to ask for
	asked int // datagrams that the last read asked for
	got   int
	empty bool // the last read has seen the socket without a datagram
	errno syscall.Errno

	headers [MaxBatch]unix.Mmsghdr
	vectors [MaxBatch]unix.Iovec
	slots   [MaxBatch]*Datagram // nil where there is none, or it was handed out
	attempt func(fd uintptr) bool
}

// NewReader returns the reader of the socket.
func (s *Socket) NewReader() *Reader {
	r := &Reader{raw: s.raw, control: s.LocalAddr().IP.IsUnspecified(), depth: minDepth}
	r.attempt = r.receive // made once: a method value would be an allocation a read
	return r
}

// Read waits for at least one datagram and returns those that the socket holds, as many as one system call moves. The
// slice is valid until the next Read, the datagrams are the caller's. The error is that of the read deadline
// (os.ErrDeadlineExceeded), net.ErrClosed, or the kernel's; none of them loses a datagram.
func (r *Reader) Read() ([]*Datagram, error) {
	clear(r.slots[:r.got]) // handed out by the last read
	for i := range r.depth {
		r.fill(i)
	}
	r.asked, r.got, r.empty = r.depth, 0, false
	if err := r.raw.Read(r.attempt); err != nil {
		return nil, err
	}
	if r.errno != 0 {
		return nil, r.errno
	}
	for i, d := range r.slots[:r.got] {
		h := &r.headers[i]
		d.n = int(h.Len)
		d.From.nameLen = uint8(h.Hdr.Namelen)
		d.From.controlLen = uint8(h.Hdr.Controllen)
		d.From.keepSource()
	}
	r.depth = max(minDepth, nextDepth(r.depth, r.got))
	return r.slots[:r.got], nil
}

// Emptied says whether the last read took all that the socket held. After one that a deadline has ended it may be
// false: the deadline was over before the socket was asked.
func (r *Reader) Emptied() bool { return r.empty }

// fill readies slot i for a datagram.
func (r *Reader) fill(i int) {
	h := &r.headers[i].Hdr
	if r.slots[i] == nil {
		d := datagrams.Get().(*Datagram)
		r.slots[i] = d
		r.vectors[i].Base = &d.buf[0]
		r.vectors[i].SetLen(len(d.buf))
		h.Name, h.Iov = &d.From.name[0], &r.vectors[i]
		h.SetIovlen(1)
		h.Control = &d.From.control[0]
	}
	h.Namelen = sizeofName
	if r.control {
		h.SetControllen(sizeofControl)
	} else {
		h.SetControllen(0)
	}
}

// receive makes one attempt; false has the caller wait for the socket to become readable.
func (r *Reader) receive(fd uintptr) bool {
	for {
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&r.headers[0])), uintptr(r.asked),
			unix.MSG_DONTWAIT, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			r.got, r.errno, r.empty = 0, errno, errno == unix.EAGAIN
			return !r.empty
		}
		r.got, r.errno, r.empty = int(n), 0, int(n) < r.asked
		return true
	}
}
