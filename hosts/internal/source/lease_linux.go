package source

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasWriter reports whether somebody has the file open to write. The system gives no read lease on such a file
// (fcntl(2), F_SETLEASE). A lease that it does give goes back at once: whoever opens the file in between waits for
// microseconds. Without the right to take leases, or on file systems that have none, nobody is reported.
func hasWriter(r reader) bool {
	f, ok := r.(syscall.Conn)
	if !ok {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	writer := false
	err = conn.Control(func(fd uintptr) {
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
		writer = errors.Is(err, unix.EAGAIN)
		if err == nil {
			_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK) // closing the file does the same
		}
	})
	return err == nil && writer
}
