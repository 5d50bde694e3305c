package forward

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// defaultBudget bounds the time for one question, all attempts included. Stub resolvers give up after 5 seconds, so an
// answer that comes later has nobody waiting for it. A longer read_timeout raises it: whoever sets one has clients that
// wait.
const defaultBudget = 5 * time.Second

// defaultPasses is how often each upstream may fail one question before it is given up, unless max_connect_attempts
// says otherwise.
const defaultPasses = 2

// block is one forward block of a Corefile as it was written, with the defaults in the place of what was not.
type block struct {
	zones  []string   // FROM; a network in CIDR notation may be several zones
	except []string   // lower-case absolute names
	to     []endpoint // TO, files replaced by what they list at this moment

	watched []string // TO as it was written, if there is a file among them

	forceTCP     bool
	preferUDP    bool
	expire       time.Duration
	maxAge       time.Duration
	maxIdleConns int
	readTimeout  time.Duration
	source       netip.Addr

	tls        *tls.Config // nil: the defaults
	tlsFiles   []string    // that tls was read from
	tlsKey     string      // identifies tls by the contents of its files
	serverName string      // tls_servername
	dohMethod  string

	policy      policy
	budget      time.Duration // zero until check has run, if timeout is not given
	maxAttempts int           // failed attempts a question may have; 0: as many as fit into its budget; -1: not given
	maxFails    uint32
	probe       upstream.Probe
	failfast    bool
	rules       rules

	maxConcurrent int64 // 0: no limit

	hedge       hedging
	rateLimit   float64 // of each upstream, in questions a second; 0: no limit
	rateBurst   int     // 0: the default of package upstream
	maxInFlight int     // of each upstream

	// resolvers are asked for the addresses of host names. ownResolvers tells "none of those given can be used" from "none
	// given", which means the system's.
	resolvers    []netip.AddrPort
	ownResolvers bool
	pace         pace // of looking up
}

func newBlock() *block {
	return &block{
		expire:      upstream.DefaultExpire,
		readTimeout: upstream.DefaultReadTimeout,
		dohMethod:   http.MethodPost,
		maxAttempts: -1,
		maxFails:    upstream.DefaultMaxFails,
		maxInFlight: upstream.DefaultMaxInFlight,
		hedge:       hedging{share: defaultShare},
		pace:        pace{minRefresh, maxRefresh},
		probe: upstream.Probe{
			Interval:         upstream.DefaultProbeInterval,
			Domain:           ".",
			RecursionDesired: true,
		},
	}
}

// config describes the upstream at addr that e stands for, with the settings of the block.
func (b *block) config(e endpoint, addr netip.AddrPort) upstream.Config {
	var source netip.Addr
	if b.sends(addr.Addr()) {
		source = b.source
	}
	return upstream.Config{
		Name:         pluginName,
		Transport:    e.transport,
		Addr:         addr,
		ServerName:   b.verifiedName(e),
		TLS:          b.tls,
		TLSKey:       b.tlsKey,
		Path:         e.path,
		Method:       b.dohMethod,
		Source:       source,
		ForceTCP:     b.forceTCP,
		PreferUDP:    b.preferUDP,
		Expire:       b.expire,
		MaxAge:       b.maxAge,
		ReadTimeout:  b.readTimeout,
		MaxIdleConns: b.maxIdleConns,
		RateLimit:    b.rateLimit,
		RateBurst:    b.rateBurst,
		MaxInFlight:  b.maxInFlight,
		PoorRcodes:   b.poorRcodes(),
		MaxFails:     b.maxFails,
		Probe:        b.probe,
	}
}

// poorRcodes are the rcodes that tell against an upstream because each costs a question another attempt. NXDOMAIN and its
// kind do not: they tell of the name. Under sequential the order of the upstreams stands above what they answer.
func (b *block) poorRcodes() (codes []int) {
	if b.policy == sequential {
		return nil
	}
	for _, code := range []int{dns.RcodeFormatError, dns.RcodeServerFailure, dns.RcodeNotImplemented, dns.RcodeRefused} {
		if slices.Contains(b.rules.failover, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// sends tells whether addr can be asked from source_address: no socket reaches from one address family to the other.
func (b *block) sends(addr netip.Addr) bool {
	return !b.source.IsValid() || b.source.Is4() == addr.Unmap().Is4()
}

// verifiedName is the name that the certificate of e must carry. What the operator wrote down for the purpose wins over
// the name that happened to be used for finding the address; without either it is the address itself.
func (b *block) verifiedName(e endpoint) string {
	switch {
	case e.transport == upstream.DNS:
		return ""
	case b.serverName != "":
		return b.serverName
	case e.serverName != "":
		return e.serverName
	}
	return e.host
}
