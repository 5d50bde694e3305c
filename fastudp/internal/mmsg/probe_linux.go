package mmsg

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probe asks once, on a socket of its own, whether the kernel and whatever filters this process's system calls let
// batches through. A socket that has joined a group and cannot be read would swallow questions.
var probe = sync.OnceValue(func() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	}
	if err != nil {
		return fmt.Errorf("opening a socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	var (
		header unix.Mmsghdr
		vector unix.Iovec
		buf    [1]byte
	)
	vector.Base = &buf[0]
	vector.SetLen(1)
	header.Hdr.Iov = &vector
	header.Hdr.SetIovlen(1)
	for name, trap := range map[string]uintptr{"recvmmsg": unix.SYS_RECVMMSG, "sendmmsg": unix.SYS_SENDMMSG} {
		count := uintptr(1)
		if name == "sendmmsg" {
			count = 0 // sends nothing
		}
		_, _, errno := unix.Syscall6(trap, uintptr(fd), uintptr(unsafe.Pointer(&header)), count, unix.MSG_DONTWAIT, 0, 0)
		if errno != 0 && errno != unix.EAGAIN {
			return fmt.Errorf("%w: %s: %w", ErrUnsupported, name, errno)
		}
	}
	return nil
})
