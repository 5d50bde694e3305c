package mirror

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of Open.
var (
	// ErrNoEndpoints says that Config.Endpoints is empty.
	ErrNoEndpoints = errors.New("no endpoints")
	// ErrMixedSchemes says that some endpoints are https, some are not. One client speaks either TLS or plain text.
	ErrMixedSchemes = errors.New("endpoints of mixed schemes")
	// ErrTLSWithoutHTTPS says that Config.TLS is set, and would be ignored for want of an https endpoint.
	ErrTLSWithoutHTTPS = errors.New("TLS settings for endpoints that are not https")
)

// Login is a user of etcd.
type Login struct {
	Username, Password string
}

// Config says which cluster to copy and how.
type Config struct {
	// Endpoints are URLs of members, or host:port, which means http.
	Endpoints []string

	// Login gives the user to log in as. It is called for each new client and again after the cluster refused it, so
	// that a password rotated on disk counts. nil: no authentication.
	Login func() (Login, error)
	// LoginKey tells two sources of logins apart in Key.
	LoginKey string

	// TLS gives the settings of a connection. It is called for each handshake, so that certificates rotated on disk
	// count, and must return a configuration that it will not change. nil: the defaults of crypto/tls where an endpoint
	// is https.
	TLS func() (*tls.Config, error)
	// TLSKey tells two sources of TLS settings apart in Key.
	TLSKey string

	// AutoSync is how often the client asks for the list of members, to follow a cluster whose members are replaced one
	// by one. Members are added to Endpoints, never taken away. 0: DefaultAutoSync where there are two endpoints or more
	// (a single one is often a proxy, a service address or a forwarded port, to be used as it is). Negative: never.
	AutoSync time.Duration

	// Timing of the feeds; zero values take their defaults.
	Timing Timing

	// OnRelist is told each list after the first of a feed, and why. OnRepair is told how many keys an audit found to
	// differ. Both may be nil, are called from the goroutines of feeds, and must not block.
	OnRelist func(Reason)
	OnRepair func(keys int)
}

// DefaultAutoSync follows a rolling replacement of members, which takes hours rather than minutes.
const DefaultAutoSync = 5 * time.Minute

// Key is equal for two configurations that can share a Mirror.
func (c Config) Key() string {
	return fmt.Sprintf("%q %q %q %v", c.Endpoints, c.LoginKey, c.TLSKey, c.AutoSync)
}

func (c Config) check() error {
	if len(c.Endpoints) == 0 {
		return ErrNoEndpoints
	}
	secure := isSecure(c.Endpoints[0])
	for _, ep := range c.Endpoints[1:] {
		if isSecure(ep) != secure {
			return fmt.Errorf("%w: %s and %s", ErrMixedSchemes, c.Endpoints[0], ep)
		}
	}
	if c.TLS != nil && !secure {
		return fmt.Errorf("%w: %s", ErrTLSWithoutHTTPS, c.Endpoints[0])
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.AutoSync == 0 && len(c.Endpoints) > 1 {
		c.AutoSync = DefaultAutoSync
	}
	if c.OnRelist == nil {
		c.OnRelist = func(Reason) {}
	}
	if c.OnRepair == nil {
		c.OnRepair = func(int) {}
	}
	c.Timing = c.Timing.withDefaults()
	return c
}

func isSecure(endpoint string) bool {
	return strings.HasPrefix(endpoint, "https://") || strings.HasPrefix(endpoint, "unixs://")
}
