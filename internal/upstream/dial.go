package upstream

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"
)

// dialTimeout bounds connecting, TLS handshake included. It is half of the budget that a question has by default, so
// that a second attempt has as much time as the first one had.
const dialTimeout = 2500 * time.Millisecond

// dial makes one connection.
func (s *streams) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := s.dialer.DialContext(ctx, "tcp", s.cfg.Addr.String())
	if err != nil {
		return nil, ofDial(err)
	}
	if s.tls == nil {
		return conn, nil
	}
	secure := tls.Client(conn, s.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: TLS handshake: %w", ErrDial, err)
		}
		return nil, fmt.Errorf("%w: %w", ErrTLS, err)
	}
	return secure, nil
}

// clientTLS returns the settings for a connection to the resolver that c describes.
func clientTLS(c Config) *tls.Config {
	config := new(tls.Config)
	if c.TLS != nil {
		config = c.TLS.Clone()
	}
	if c.ServerName != "" {
		config.ServerName = c.ServerName
	}
	if config.ServerName == "" {
		config.ServerName = c.Addr.Addr().Unmap().WithZone("").String()
	}
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = new(tickets)
	}
	return config
}
