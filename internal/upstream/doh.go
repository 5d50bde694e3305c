package upstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/miekg/dns"
)

const (
	dnsMessage = "application/dns-message" // RFC 8484, section 6
	// pingAfter is how long an HTTP/2 connection may be silent until it is pinged, and pingTimeout how long the answer may
	// take: a connection that a NAT has forgotten must not wait for TCP to give up, which takes a quarter of an hour.
	pingAfter, pingTimeout = 5 * time.Second, 2 * time.Second
)

// newHTTPS carries questions over HTTP/2, or HTTP/1.1 when the server knows nothing better.
func newHTTPS(c Config, m *meters) (carrier, error) {
	resource, err := newResource(c)
	if err != nil {
		return nil, err
	}
	config := clientTLS(c, "h2", "http/1.1")
	dialer := tcpDialer(c)
	p := newPool[*sessionConn](c, m, "https", "tcp", packing{pad: true})
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	transport := &http.Transport{
		Protocols:              protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		DisableCompression:     true,
		MaxResponseHeaderBytes: 16 << 10,
		// No Proxy: the one of the environment is not meant for DNS, and would learn all questions.
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, dialTimeout)
			defer cancel()
			conn, err := dialTCP(ctx, dialer, c.Addr.String())
			if err != nil {
				return nil, err
			}
			*ctx.Value(localKey{}).(*net.Addr) = conn.LocalAddr()
			secure := tls.Client(conn, config)
			return secure, handshake(ctx, secure)
		},
	}
	p.connect = func(ctx context.Context) (*sessionConn, error) {
		var local net.Addr
		conn, err := transport.NewClientConn(context.WithValue(ctx, localKey{}, &local), "https", c.Addr.String())
		if err != nil {
			return nil, ofDial(err)
		}
		if conn.Available() > 1 {
			p.anyTurn.Store(true) // HTTP/2
		}
		return newSessionConn(p, &httpSession{
			resource: resource,
			rt:       conn,
			ended:    func() bool { return conn.Err() != nil },
			local:    local,
			end:      func() { _ = conn.Close() },
		}), nil
	}
	return p, nil
}

// localKey is the context key under which DialTLSContext leaves the local address.
type localKey struct{}

// resource is where a DoH server answers.
type resource struct {
	method string
	url    *url.URL // for GET without the question
	host   string
	header http.Header // shared by all requests, and only read
}

func newResource(c Config) (*resource, error) {
	u, err := url.Parse(c.path())
	if err != nil || u.IsAbs() || u.Host != "" || len(u.Path) == 0 || u.Path[0] != '/' {
		return nil, fmt.Errorf("DoH path %q: want a path that begins with a slash", c.Path)
	}
	u.Scheme, u.Host = "https", c.Addr.String()
	r := &resource{method: c.method(), url: u, header: http.Header{
		"Accept":     {dnsMessage},
		"User-Agent": {""}, // none, instead of the one of net/http
	}}
	if r.method == http.MethodPost {
		r.header["Content-Type"] = []string{dnsMessage}
	}
	r.host = c.Addr.String()
	if name := c.serverName(); name != "" {
		r.host = name
		if c.Addr.Port() != 443 {
			r.host = net.JoinHostPort(name, strconv.Itoa(int(c.Addr.Port())))
		}
	}
	return r, nil
}

// request returns the HTTP request for a question (RFC 8484, section 4.1), whose ID is zero so that caches know it
// again.
func (r *resource) request(ctx context.Context, query []byte) *http.Request {
	req := &http.Request{
		Method:     r.method,
		URL:        r.url,
		Host:       r.host,
		Header:     r.header,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
	}
	if r.method == http.MethodPost {
		// A copy: the body may be read after RoundTrip has returned.
		req.Body = io.NopCloser(bytes.NewReader(slices.Clone(query)))
		req.ContentLength = int64(len(query))
		return req.WithContext(ctx)
	}
	u := *r.url
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "dns=" + base64.RawURLEncoding.EncodeToString(query)
	req.URL = &u
	return req.WithContext(ctx)
}

// httpSession is a connection to a DoH server.
type httpSession struct {
	resource *resource
	rt       http.RoundTripper
	ended    func() bool
	local    net.Addr
	end      func()
}

func (s *httpSession) over() bool          { return s.ended() }
func (s *httpSession) localAddr() net.Addr { return s.local }
func (s *httpSession) shut()               { s.end() }

func (s *httpSession) exchange(ctx context.Context, x *exchange) error {
	x.setID(0)
	response, err := s.rt.RoundTrip(s.resource.request(ctx, x.query))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%w: status %d", ErrHTTP, response.StatusCode)
	}
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || media != dnsMessage {
		return fmt.Errorf("%w: media type %q", ErrHTTP, response.Header.Get("Content-Type"))
	}
	x.age = age(response.Header.Get("Age"))
	x.reply, err = readAll(x.reply[:0], response.Body)
	return err
}

// age reads how many seconds ago an HTTP cache got its response: the TTLs have to make up for it (RFC 8484, section
// 5.1). What cannot be read is new.
func age(header string) uint32 {
	seconds, err := strconv.ParseUint(header, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(seconds)
}

// readAll reads a message to its end, and not more than a message can have.
func readAll(buf []byte, r io.Reader) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, 512)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > dns.MaxMsgSize:
			return buf[:0], malformed("more than %d bytes", dns.MaxMsgSize)
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf[:0], fmt.Errorf("%w: %w", ErrClosed, err)
		}
	}
}
