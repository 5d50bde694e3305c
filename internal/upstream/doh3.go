package upstream

import (
	"context"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// newHTTPS3 carries questions over HTTP/3.
func newHTTPS3(c Config, m *meters) (carrier, error) {
	resource, err := newResource(c)
	if err != nil {
		return nil, err
	}
	config, settings := clientTLS(c, http3.NextProtoH3), quicConfig()
	settings.MaxIncomingUniStreams = 0 // the default: control streams need some
	transport := &http3.Transport{DisableCompression: true, MaxResponseHeaderBytes: 16 << 10}
	p := newPool[*sessionConn](c, m, "https3", "udp", packing{pad: true})
	p.anyTurn.Store(true)
	p.connect = func(ctx context.Context) (*sessionConn, error) {
		link, err := dialQUIC(ctx, c, config, settings)
		if err != nil {
			return nil, err
		}
		return newSessionConn(p, &httpSession{
			resource: resource,
			rt:       transport.NewClientConn(link.conn),
			ended:    link.over,
			local:    link.conn.LocalAddr(),
			end:      func() { link.shut(quic.ApplicationErrorCode(http3.ErrCodeNoError)) },
		}), nil
	}
	return p, nil
}
