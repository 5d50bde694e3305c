package mirror

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
)

// freshTLS are transport credentials that read their settings anew for each handshake. A long-lived client thereby
// follows certificates and authorities that are rotated on disk, without a restart.
type freshTLS struct {
	credentials.TransportCredentials // of an empty configuration: what is asked for without a handshake
	load                             func() (*tls.Config, error)
	failed                           *atomic.Pointer[error] // why the last handshake did, nil when it did not
}

func newFreshTLS(load func() (*tls.Config, error), failed *atomic.Pointer[error]) freshTLS {
	return freshTLS{credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12}), load, failed}
}

// ClientHandshake implements credentials.TransportCredentials.
func (f freshTLS) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (
	net.Conn, credentials.AuthInfo, error,
) {
	conn, info, err := f.handshake(ctx, authority, raw)
	if err != nil {
		f.failed.Store(&err)
	} else {
		f.failed.Store(nil)
	}
	return conn, info, err
}

func (f freshTLS) handshake(ctx context.Context, authority string, raw net.Conn) (
	net.Conn, credentials.AuthInfo, error,
) {
	cfg, err := f.load()
	if err != nil {
		return nil, nil, err
	}
	if cfg.ServerName != "" {
		authority = cfg.ServerName // gRPC looks at nothing else
	}
	return credentials.NewTLS(cfg).ClientHandshake(ctx, authority, raw)
}

// Clone implements credentials.TransportCredentials.
func (f freshTLS) Clone() credentials.TransportCredentials {
	return freshTLS{f.TransportCredentials.Clone(), f.load, f.failed}
}
