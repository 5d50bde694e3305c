// Package skyconf turns the configuration of SkyDNS, from its flags, its environment and the JSON that its instances share
// in etcd, into a Corefile that gives the same service. It is pure.
package skyconf

import (
	"errors"
	"time"
)

// ErrConfig says that something is no configuration of SkyDNS. What wraps it names the flag, variable or key.
var ErrConfig = errors.New("no configuration of SkyDNS")

// Config is what SkyDNS can be told, by the names of its flags. The zero value is of no use: New has the defaults.
type Config struct {
	Addr, Domain, Local, Hostmaster    string
	Systemd, NoRec, Verbose            bool
	RoundRobin, NSRotate               bool
	DNSSEC                             string // base name of the key files
	Nameservers                        string // with commas between them; "": those of /etc/resolv.conf
	ReadTimeout, RCacheTTL             time.Duration
	SCache, RCache                     int
	NDots, Priority, TTL, MinTTL       int
	Machines                           string // with commas between them
	TLSPem, TLSKey, CACert             string
	Username, Password                 string
	PathPrefix                         string
	StubZones, Etcd3                   bool
	MetricsPort, MetricsPath           string
	MetricsNamespace, MetricsSubsystem string

	// Notes are about what has no counterpart, or another one than it seems.
	Notes []string
}
