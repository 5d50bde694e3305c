package mirror

import (
	"context"
	"crypto/tls"
	"net"

	"google.golang.org/grpc/credentials"
)

// freshTLS are transport credentials that read their settings anew for each handshake. A long-lived client thereby
// follows certificates and authorities that are rotated on disk, without a restart.
type freshTLS struct {
	credentials.TransportCredentials // of an empty configuration: what is asked for without a handshake
	load                             func() (*tls.Config, error)
}

func newFreshTLS(load func() (*tls.Config, error)) freshTLS {
	return freshTLS{credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12}), load}
}

// ClientHandshake implements credentials.TransportCredentials.
func (f freshTLS) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (
	net.Conn, credentials.AuthInfo, error,
) {
	cfg, err := f.load()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(cfg).ClientHandshake(ctx, authority, raw)
}

// Clone implements credentials.TransportCredentials.
func (f freshTLS) Clone() credentials.TransportCredentials {
	return freshTLS{f.TransportCredentials.Clone(), f.load}
}
