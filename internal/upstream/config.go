package upstream

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"strconv"
	"time"
)

// Transport is the way in which questions travel to a resolver.
type Transport uint8

// The transports, by the name that a Corefile gives them.
const (
	DNS    Transport = iota // dns://, UDP and TCP on one port (RFC 1035, RFC 7766)
	TLS                     // tls://, DNS over TLS (RFC 7858)
	HTTPS                   // https://, DNS over HTTPS with HTTP/2 or HTTP/1.1 (RFC 8484)
	HTTPS3                  // https3://, DNS over HTTPS with HTTP/3
	QUIC                    // quic://, DNS over QUIC (RFC 9250)
)

// String returns the scheme that a Corefile uses for t.
func (t Transport) String() string {
	switch t {
	case DNS:
		return "dns"
	case TLS:
		return "tls"
	case HTTPS:
		return "https"
	case HTTPS3:
		return "https3"
	case QUIC:
		return "quic"
	}
	return "transport" + strconv.Itoa(int(t))
}

// The defaults of the in-tree forward plugin. A zero in Config is a zero, not a request for one of these.
const (
	DefaultExpire        = 10 * time.Second
	DefaultReadTimeout   = 2 * time.Second
	DefaultMaxFails      = 2
	DefaultProbeInterval = 500 * time.Millisecond
	DefaultPath          = "/dns-query"
)

// Config describes one resolver and how to talk to it.
type Config struct {
	// Name is who asks ("forward"); it is the proxy_name label of the metrics.
	Name string

	Transport Transport
	// Addr is where the resolver listens. The zone of an IPv6 address is kept.
	Addr netip.AddrPort

	// ServerName is the name that the resolver's certificate must carry, and the SNI and Host sent. Empty: TLS.ServerName,
	// and without that one the certificate must carry the address.
	ServerName string
	// TLS is cloned, never changed. Nil: the system's roots and no client certificate.
	TLS *tls.Config
	// TLSKey identifies TLS in Key: equal for settings that may share connections. A TLS whose key is empty is taken to be
	// the default one.
	TLSKey string

	// Path of the DoH resource; empty: DefaultPath. Method is http.MethodGet or http.MethodPost; empty: POST.
	Path   string
	Method string

	// Source is the local address to send from; the zero Addr leaves the choice to the kernel.
	Source netip.Addr

	// ForceTCP asks over TCP whatever the asker used, and wins over PreferUDP. PreferUDP asks over UDP first and over TCP
	// when the reply was truncated. Both concern the DNS transport alone.
	ForceTCP  bool
	PreferUDP bool

	// Expire is how long a connection may be idle; zero: none outlives its last question. Some jitter is taken off.
	Expire time.Duration
	// MaxAge is how old a connection may get; zero: some minutes, drawn anew for each. It is replaced when there is another
	// one, so that nobody waits for that. UDP sockets never live longer than half a minute.
	MaxAge time.Duration
	// ReadTimeout is how long one attempt waits for a reply after the question was sent; zero: DefaultReadTimeout.
	ReadTimeout time.Duration
	// MaxIdleConns is how many idle connections are kept per protocol; zero: no limit beyond those of the transport.
	MaxIdleConns int

	// RateLimit is how many questions a second may be sent, retransmissions included; zero: no limit. RateBurst is how many
	// may be sent at once; zero: a tenth of a second's worth, and 16 at least.
	RateLimit float64
	RateBurst int
	// MaxInFlight is how many questions may be under way; zero: DefaultMaxInFlight.
	MaxInFlight int

	// PoorRcodes are more rcodes of replies to questions that count as failure; probes are left alone. They are handed on all
	// the same.
	PoorRcodes []int

	// MaxFails is how many probes in a row must fail until Down says so; zero: it never does, and nothing is probed.
	MaxFails uint32
	Probe    Probe
}

// Probe is the question that finds out whether a resolver is back.
type Probe struct {
	Interval         time.Duration // between two probes; zero: DefaultProbeInterval
	Domain           string        // its name servers are asked for; empty: the root
	RecursionDesired bool
	// Periodic probes also while the resolver is well, from Open on. Without MaxFails it has no effect.
	Periodic bool
	// FailRcodes are the rcodes that count as failure, of probes and of replies to questions. None by default: whoever
	// answers is there.
	FailRcodes []int
}

// Key identifies the resolver that c describes: configurations with equal keys may share one Resolver.
func (c Config) Key() string {
	return fmt.Sprintf("%q %s %s %q %q %q %s %s %t %t %s %s %s %d %g %d %d %d %s %q %t %t %v %v",
		c.Name, c.Transport, c.Addr, c.ServerName, c.TLSKey, c.path(), c.method(), c.Source, c.ForceTCP, c.PreferUDP,
		c.Expire, c.MaxAge, c.readTimeout(), c.MaxIdleConns, c.RateLimit, c.RateBurst, c.maxInFlight(), c.MaxFails, c.Probe.interval(), c.Probe.domain(),
		c.Probe.RecursionDesired, c.Probe.Periodic, c.Probe.FailRcodes, c.PoorRcodes)
}

func (c Config) path() string {
	if c.Path == "" {
		return DefaultPath
	}
	return c.Path
}

func (c Config) method() string {
	if c.Method == "" {
		return "POST"
	}
	return c.Method
}

// serverName is the name that the certificate must carry; empty: there is only the address.
func (c Config) serverName() string {
	if c.ServerName == "" && c.TLS != nil {
		return c.TLS.ServerName
	}
	return c.ServerName
}

func (c Config) readTimeout() time.Duration {
	if c.ReadTimeout <= 0 {
		return DefaultReadTimeout
	}
	return c.ReadTimeout
}

func (c Config) maxInFlight() int {
	if c.MaxInFlight <= 0 {
		return DefaultMaxInFlight
	}
	return c.MaxInFlight
}

func (p Probe) interval() time.Duration {
	if p.Interval <= 0 {
		return DefaultProbeInterval
	}
	return p.Interval
}

func (p Probe) domain() string {
	if p.Domain == "" {
		return "."
	}
	return p.Domain
}
