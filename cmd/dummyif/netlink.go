//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// conn is a route netlink socket.
type conn struct {
	fd       int
	sequence uint32
}

// answerTime bounds the wait for the kernel's answer, which comes at once.
const answerTime = 5 // seconds

func dial() (*conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("netlink socket: %w", err)
	}
	err = errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: answerTime}),
		unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}),
	)
	if err != nil {
		_ = unix.Close(fd) // nothing was sent on it
		return nil, fmt.Errorf("netlink socket: %w", err)
	}
	return &conn{fd: fd}, nil
}

func (c *conn) close() { _ = unix.Close(c.fd) } // every answer has been read

// do sends the request and returns the kernel's verdict, a unix.Errno or nil.
func (c *conn) do(r request) error {
	c.sequence++
	err := unix.Sendto(c.fd, r.message(c.sequence), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	if err != nil {
		return err
	}
	buf := make([]byte, 8192) // an acknowledgement repeats the request at most
	for {
		n, _, err := unix.Recvfrom(c.fd, buf, 0)
		if err != nil {
			return fmt.Errorf("waiting for the kernel: %w", err)
		}
		code, ours := verdict(buf[:n], c.sequence)
		if !ours {
			continue
		}
		if code != 0 {
			return unix.Errno(code)
		}
		return nil
	}
}

// verdict reads the error code of an acknowledgement, 0 for success. ours is false for any other message.
func verdict(b []byte, sequence uint32) (code int, ours bool) {
	if len(b) < unix.SizeofNlMsghdr+4 || binary.NativeEndian.Uint16(b[4:]) != unix.NLMSG_ERROR ||
		binary.NativeEndian.Uint32(b[8:]) != sequence {
		return 0, false
	}
	return -int(int32(binary.NativeEndian.Uint32(b[unix.SizeofNlMsghdr:]))), true
}
