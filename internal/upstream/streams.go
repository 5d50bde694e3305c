package upstream

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// dialTimeout bounds connecting, TLS handshake included. It is half of the budget that a question has by default, so
// that a second attempt has as much time as the first one had.
const dialTimeout = 2500 * time.Millisecond

// streams carries questions over a few TCP or TLS connections, many at a time on each and with replies in any order
// (RFC 7766, section 6.2.1.1).
type streams struct {
	*pool[*streamConn]
	mismatched prometheus.Counter
}

// Some servers close a connection after so many questions, and those that are queued behind are lost: the pool learns how
// many it is from connections that end early, and unlearns it by trying twice as many each time that it went well.

// endedEarly notes that a connection was closed with questions on it after so many answers.
func (s *streams) endedEarly(answers uint64) {
	if answers > 0 {
		s.quota.Store(int64(answers))
	}
}

// usedUp notes that a connection has answered as many questions as the peer is known to answer.
func (s *streams) usedUp(answers uint64) {
	s.quota.Store(int64(min(2*answers, noQuota)))
}

func newStreams(c Config, m *meters) *streams {
	label, how := "tcp", packing{keepalive: true}
	var config *tls.Config
	if c.Transport == TLS {
		label, how.pad = "tcp-tls", true
		config = clientTLS(c)
	}
	s := &streams{pool: newPool[*streamConn](c, m, label, "tcp", how), mismatched: m.mismatches(label)}
	dialer := tcpDialer(c)
	s.connect = func(ctx context.Context) (*streamConn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		conn, err := dialTCP(ctx, dialer, c.Addr.String())
		if err != nil {
			return nil, err
		}
		if config != nil {
			secure := newSecureConn(conn, config)
			if err := handshake(ctx, secure.Conn); err != nil {
				return nil, err
			}
			conn = secure
		}
		return newStreamConn(s, conn), nil
	}
	return s
}

func tcpDialer(c Config) *net.Dialer {
	d := new(net.Dialer)
	if c.Source.IsValid() {
		d.LocalAddr = &net.TCPAddr{IP: c.Source.AsSlice(), Zone: c.Source.Zone()}
	}
	return d
}

func dialTCP(ctx context.Context, dialer *net.Dialer, addr string) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, ofDial(err)
	}
	return conn, nil
}

// handshake does the one of TLS, and closes the connection when it fails.
func handshake(ctx context.Context, conn *tls.Conn) error {
	err := conn.HandshakeContext(ctx)
	if err == nil {
		return nil
	}
	conn.NetConn().Close()
	if ctx.Err() != nil {
		return fmt.Errorf("%w: TLS handshake: %w", ErrDial, err)
	}
	return fmt.Errorf("%w: %w", ErrTLS, err)
}

// clientTLS returns the settings for a connection to the resolver that c describes, with a memory for sessions. alpn
// replaces the protocols to offer.
func clientTLS(c Config, alpn ...string) *tls.Config {
	config := new(tls.Config)
	if c.TLS != nil {
		config = c.TLS.Clone()
	}
	if config.ServerName = c.serverName(); config.ServerName == "" {
		config.ServerName = c.Addr.Addr().Unmap().WithZone("").String()
	}
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = new(tickets)
	}
	if len(alpn) > 0 {
		config.NextProtos = alpn
	}
	return config
}
