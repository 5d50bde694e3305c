package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/quic-go/quic-go"
)

// quicIdle is how long a QUIC connection lives without a packet from the peer, unless the peer wants less. The pool
// closes it earlier.
const quicIdle = 30 * time.Second

// quicLink is a QUIC connection with a socket of its own.
type quicLink struct {
	conn      *quic.Conn
	transport *quic.Transport
	socket    *net.UDPConn
}

// dialQUIC makes a connection to the resolver that c describes, within dialTimeout.
func dialQUIC(ctx context.Context, c Config, config *tls.Config, settings *quic.Config) (*quicLink, error) {
	local, err := sourceOf(c)
	if err != nil {
		return nil, ofDial(err)
	}
	// While the connection is being made, a router that says that nobody listens ends the attempt. Afterwards only the peer
	// itself can end it: what routers say can be forged.
	listen := net.ListenConfig{Control: reportUnreachable}
	packets, err := listen.ListenPacket(ctx, "udp", local.String())
	if err != nil {
		return nil, ofDial(err)
	}
	socket := packets.(*net.UDPConn)
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	l := &quicLink{transport: &quic.Transport{Conn: socket}, socket: socket}
	if l.conn, err = l.transport.Dial(ctx, net.UDPAddrFromAddrPort(c.Addr), config, settings); err != nil {
		l.transport.Close()
		_ = socket.Close()
		return nil, ofQUICDial(err)
	}
	ignoreUnreachable(socket)
	return l, nil
}

// sourceOf returns the address that the kernel would use to reach the resolver, with the port zero. A socket that is
// bound to it knows its address, which dnstap wants, and goes on using it.
func sourceOf(c Config) (*net.UDPAddr, error) {
	dialer := net.Dialer{}
	if c.Source.IsValid() {
		dialer.LocalAddr = &net.UDPAddr{IP: c.Source.AsSlice(), Zone: c.Source.Zone()}
	}
	probe, err := dialer.Dial("udp", c.Addr.String()) // sends nothing
	if err != nil {
		return nil, err
	}
	defer probe.Close()
	local := *probe.LocalAddr().(*net.UDPAddr)
	local.Port = 0
	return &local, nil
}

func quicConfig() *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout: dialTimeout,
		MaxIdleTimeout:       quicIdle,
		MaxIncomingStreams:   -1, // none: it is us who ask
		TokenStore:           quic.NewLRUTokenStore(1, 4),
	}
}

// over tells whether the connection has ended.
func (l *quicLink) over() bool { return l.conn.Context().Err() != nil }

func (l *quicLink) shut(code quic.ApplicationErrorCode) {
	l.conn.CloseWithError(code, "")
	l.transport.Close()
	_ = l.socket.Close()
}

// ofQUICDial is ofDial for QUIC, whose TLS alerts are error codes.
func ofQUICDial(err error) error {
	var transport *quic.TransportError
	if errors.As(err, &transport) && transport.ErrorCode.IsCryptoError() {
		return fmt.Errorf("%w: %w", ErrTLS, err)
	}
	return ofDial(err)
}
