package mmsg

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Writer sends batches through one socket. It belongs to one goroutine.
type Writer struct {
	raw syscall.RawConn

	count int // messages of the batch
	sent  int
	errno syscall.Errno

	headers [MaxBatch]unix.Mmsghdr
	vectors [MaxBatch]unix.Iovec
	attempt func(fd uintptr) bool
}

// NewWriter returns the writer of the socket.
func (s *Socket) NewWriter() *Writer {
	w := &Writer{raw: s.raw}
	w.attempt = w.send // made once: a method value would be an allocation a write
	return w
}

// Write sends the first of the messages, at most MaxBatch and at least one unless there is an error, and returns how
// many went out. It waits while the socket has no room. The error is the kernel's and concerns the message after
// those that went out, or that of the write deadline or of a closed socket. The messages are the caller's again when
// Write returns. A message is never empty.
func (w *Writer) Write(messages []Message) (int, error) {
	w.count, w.sent = min(len(messages), MaxBatch), 0
	for i, m := range messages[:w.count] {
		w.vectors[i].Base = &m.Data[0]
		w.vectors[i].SetLen(len(m.Data))
		h := &w.headers[i].Hdr
		h.Name, h.Namelen = &m.To.name[0], uint32(m.To.nameLen)
		h.Iov = &w.vectors[i]
		h.SetIovlen(1)
		h.Control = &m.To.control[0]
		h.SetControllen(int(m.To.controlLen))
	}
	err := w.raw.Write(w.attempt)
	for i := range w.count {
		w.vectors[i].Base = nil // hold no buffer that is somebody else's by now
		w.headers[i].Hdr.Name, w.headers[i].Hdr.Control = nil, nil
	}
	if err == nil && w.errno != 0 {
		err = w.errno
	}
	return w.sent, err
}

// send makes one attempt; false has the caller wait for the socket to have room.
func (w *Writer) send(fd uintptr) bool {
	for {
		n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&w.headers[0])), uintptr(w.count),
			unix.MSG_DONTWAIT, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		w.sent, w.errno = int(n), errno
		if errno != 0 {
			w.sent = 0
		}
		return errno != unix.EAGAIN
	}
}
