//go:build !linux

package mmsg

import (
	"net"
	"time"
)

// Peer is where a datagram came from.
type Peer struct{}

// Store writes the remote address into a.
func (*Peer) Store(*net.UDPAddr, *[16]byte) {}

// Socket cannot be had on this system.
type Socket struct{}

// Listen returns ErrUnsupported.
func Listen(string) (*Socket, error) { return nil, ErrUnsupported }

// Sharing returns ErrUnsupported.
func Sharing(*net.UDPAddr) (int, error) { return 0, ErrUnsupported }

// LocalAddr is nil.
func (*Socket) LocalAddr() *net.UDPAddr { return nil }

// SetReadDeadline returns ErrUnsupported.
func (*Socket) SetReadDeadline(time.Time) error { return ErrUnsupported }

// SetWriteDeadline returns ErrUnsupported.
func (*Socket) SetWriteDeadline(time.Time) error { return ErrUnsupported }

// Close returns ErrUnsupported.
func (*Socket) Close() error { return ErrUnsupported }

// Steer returns ErrUnsupported.
func (*Socket) Steer(_, _ int) error { return ErrUnsupported }

// Unsteer returns ErrUnsupported.
func (*Socket) Unsteer() error { return ErrUnsupported }

// Leave returns ErrUnsupported.
func (*Socket) Leave() error { return ErrUnsupported }

// Reader cannot be had on this system.
type Reader struct{}

// NewReader returns nil.
func (*Socket) NewReader() *Reader { return nil }

// Read returns ErrUnsupported.
func (*Reader) Read() ([]*Datagram, error) { return nil, ErrUnsupported }

// Emptied is true.
func (*Reader) Emptied() bool { return true }

// Writer cannot be had on this system.
type Writer struct{}

// NewWriter returns nil.
func (*Socket) NewWriter() *Writer { return nil }

// Write returns ErrUnsupported.
func (*Writer) Write([]Message) (int, error) { return 0, ErrUnsupported }
