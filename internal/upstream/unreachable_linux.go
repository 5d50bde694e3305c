package upstream

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// reportUnreachable is a net.Dialer.Control that makes reads of a UDP socket fail when a router says that the
// resolver's host or network is unreachable. Without it Linux tells connected sockets of closed ports only, and the
// question waits for its time-out. Failing to set it is no reason not to ask.
func reportUnreachable(network, _ string, c syscall.RawConn) error {
	level, option := unix.SOL_IP, unix.IP_RECVERR
	switch network {
	case "udp4":
	case "udp6":
		level, option = unix.SOL_IPV6, unix.IPV6_RECVERR
	default:
		return nil
	}
	return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), level, option, 1) })
}

// ignoreUnreachable undoes reportUnreachable.
func ignoreUnreachable(conn *net.UDPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	level, option := unix.SOL_IP, unix.IP_RECVERR
	if conn.LocalAddr().(*net.UDPAddr).IP.To4() == nil {
		level, option = unix.SOL_IPV6, unix.IPV6_RECVERR
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), level, option, 0) })
}
