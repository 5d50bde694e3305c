// Package mmsg moves UDP datagrams in and out of the kernel many at a time, with recvmmsg(2) and sendmmsg(2), and
// says which socket of a group that shares one address gets which datagram (SO_REUSEPORT, classic BPF).
//
// It knows nothing of DNS. A [Reader] and a [Writer] belong to one goroutine each; one [Socket] may have one of both.
// Addresses stay in the kernel's own form from the datagram to its reply (see [Peer]), so that neither way allocates
// anything. Systems other than Linux get [ErrUnsupported] from [Listen], and nothing else is ever reached there.
package mmsg

import (
	"errors"
	"sync"
)

// ErrUnsupported says that the system has no batched datagrams, or does not let this process use them.
var ErrUnsupported = errors.New("batched UDP is not supported on this system")

// MaxBatch bounds what one system call moves. The gain of a batch is the system call that its members share: at 32
// it has shrunk to 3 % of one, and a batch of 32 questions is answered well within a millisecond.
const MaxBatch = 32

// MaxDatagram is the longest datagram that is received whole, in bytes; what is longer is cut off. EDNS clients are
// told 1,232 to 4,096 bytes by the servers of this world (RFC 6891, section 6.2.5), and send far less.
const MaxDatagram = 4096

// Datagram is one datagram that came in. It belongs to whoever got it from Reader.Read, until Release.
type Datagram struct {
	From Peer

	buf [MaxDatagram]byte
	n   int
}

// Bytes is the payload. It must not be used after Release.
func (d *Datagram) Bytes() []byte { return d.buf[:d.n] }

var datagrams = sync.Pool{New: func() any { return new(Datagram) }}

// Release gives the datagram back for another one to use.
func (d *Datagram) Release() { datagrams.Put(d) }

// Message is one datagram to go out.
type Message struct {
	Data []byte
	To   *Peer
}
