package etcd

import (
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coredns/coredns/plugin/pkg/fall"
	mwtls "github.com/coredns/coredns/plugin/pkg/tls"

	"github.com/trident-dns/trident/plugin/backend"
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/embedhook"
	"github.com/trident-dns/trident/etcd/mirror"
)

const defaultEndpoint = "http://localhost:2379"

// timing of the mirrors; the defaults but for tests.
var timing mirror.Timing

// config is one etcd block of a Corefile.
type config struct {
	zones       []string
	fall        fall.F
	prefix      skydns.Prefix
	settings    backend.Settings
	leases      leaseBounds
	maxStale    time.Duration
	readyAlways bool
	snapshot    string // file
	stubZones   bool
	local       string          // name that local.dns stands for
	fleet       bool            // follow the configuration in etcd
	pinned      map[string]bool // properties that the block sets

	endpoints     []string
	username      string
	password      string
	passwordFile  string
	tls           bool
	tlsArgs       []string
	tlsServerName string
	embed         *embedhook.Config
}

func newConfig() *config {
	return &config{prefix: "/skydns", settings: backend.Defaults(), leases: defaultLeases, pinned: map[string]bool{}}
}

// etcdEndpoints are the endpoints that the block names, or the default, each with a scheme. As to the etcd client, one
// without a scheme speaks TLS when there are settings for that, and so does a socket of the file system.
func (cfg *config) etcdEndpoints() []string {
	if len(cfg.endpoints) == 0 {
		return []string{defaultEndpoint}
	}
	scheme := "http://"
	if cfg.wantsTLS() || slices.ContainsFunc(cfg.endpoints, isSecure) {
		scheme = "https://"
	}
	full := make([]string, len(cfg.endpoints))
	for i, ep := range cfg.endpoints {
		switch {
		case !strings.Contains(ep, "://"):
			ep = scheme + ep
		case cfg.wantsTLS() && strings.HasPrefix(ep, "unix://"):
			ep = "unixs" + strings.TrimPrefix(ep, "unix")
		}
		full[i] = ep
	}
	return full
}

func (cfg *config) wantsTLS() bool { return cfg.tls || cfg.tlsServerName != "" }

// mirrorConfig is how to reach etcd at the given endpoints.
func (cfg *config) mirrorConfig(endpoints []string) mirror.Config {
	mc := mirror.Config{
		Endpoints: endpoints,
		Timing:    timing,
		OnRelist:  func(r mirror.Reason) { relists.WithLabelValues(string(r)).Inc() },
		OnRepair:  func(keys int) { auditRepairs.Add(float64(keys)) },
	}
	switch {
	case cfg.passwordFile != "":
		mc.Login = func() (mirror.Login, error) { return readLogin(cfg.passwordFile) }
		mc.LoginKey = "file " + cfg.passwordFile
	case cfg.username != "" && cfg.password != "":
		login := mirror.Login{Username: cfg.username, Password: cfg.password}
		mc.Login = func() (mirror.Login, error) { return login, nil }
		mc.LoginKey = "user " + cfg.username + " " + cfg.password
	}
	if cfg.wantsTLS() {
		mc.TLS = cfg.loadTLS
		mc.TLSKey = fmt.Sprintf("%q %q", cfg.tlsArgs, cfg.tlsServerName)
	}
	return mc
}

// loadTLS reads the certificates from disk.
func (cfg *config) loadTLS() (*tls.Config, error) {
	c, err := mwtls.NewTLSConfigFromArgs(cfg.tlsArgs...)
	if err != nil {
		return nil, err
	}
	c.ServerName = cfg.tlsServerName
	return c, nil
}

// readLogin reads a user and a password, separated by white space or a colon, from a file.
func readLogin(file string) (mirror.Login, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return mirror.Login{}, err
	}
	text := strings.TrimSpace(string(data))
	i := strings.IndexAny(text, ": \t\r\n")
	if i <= 0 {
		return mirror.Login{}, fmt.Errorf("%s: want a user name and a password", file)
	}
	password := strings.TrimSpace(text[i+1:])
	if password == "" {
		return mirror.Login{}, fmt.Errorf("%s: want a password after the user name", file)
	}
	return mirror.Login{Username: text[:i], Password: password}, nil
}
