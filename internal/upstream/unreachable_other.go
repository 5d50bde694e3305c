//go:build !linux

package upstream

import (
	"net"
	"syscall"
)

// reportUnreachable is a net.Dialer.Control that does nothing here: only Linux must be asked to report routers' errors.
func reportUnreachable(string, string, syscall.RawConn) error { return nil }

// ignoreUnreachable undoes reportUnreachable.
func ignoreUnreachable(*net.UDPConn) {}
