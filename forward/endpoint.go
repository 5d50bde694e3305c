package forward

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/coredns/coredns/plugin/pkg/parse"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// endpoint is one destination: an address, or a host name that stands for addresses.
type endpoint struct {
	transport  upstream.Transport
	addr       netip.Addr // invalid for a host name
	host       string     // lower-case, without the final dot; empty for an address
	port       uint16
	serverName string // from %name; empty if there is none
	path       string // of a DoH resource, with its slash; empty for the default
}

// String returns e in the form in which TO is written.
func (e endpoint) String() string {
	host := e.host
	if e.addr.IsValid() {
		host = e.addr.String()
	}
	if e.serverName != "" {
		host += "%" + e.serverName
	}
	return fmt.Sprintf("%s://%s%s", e.transport, net.JoinHostPort(host, fmt.Sprint(e.port)), e.path)
}

// errNotEndpoint says that a TO is neither an address nor a host name; it may still be a file.
var errNotEndpoint = errors.New("not an IP address, file or host name")

// schemes are the transports by what a TO begins with, and the port that each uses unless told otherwise.
var schemes = map[string]struct {
	transport upstream.Transport
	port      uint16
}{
	"dns":    {upstream.DNS, 53},
	"tls":    {upstream.TLS, 853},
	"https":  {upstream.HTTPS, 443},
	"https3": {upstream.HTTPS3, 443},
	"quic":   {upstream.QUIC, 853},
}

// acceptedTO ends the errors about a TO.
const acceptedTO = "accepted is [dns://|tls://|https://|https3://|quic://]ADDRESS or HOSTNAME[%SERVERNAME][:PORT], " +
	"or the path of a file with nameserver lines"

// parseEndpoint reads one TO that is not a file. The warning, if not empty, says what was left out.
func parseEndpoint(to string) (e endpoint, warning string, err error) {
	scheme, rest := parse.Transport(to)
	if name, _, ok := strings.Cut(to, "://"); ok && !strings.Contains(name, "/") && schemes[name].port == 0 {
		scheme = name // one that parse.Transport does not know, and takes for a host name
	}
	s, ok := schemes[scheme]
	if !ok {
		return endpoint{}, "", fmt.Errorf("'%s' is not supported as a destination protocol in forward: %s", scheme, to)
	}
	e = endpoint{transport: s.transport, port: s.port}
	if s.transport == upstream.HTTPS || s.transport == upstream.HTTPS3 {
		rest, e.path = cutPath(rest)
	}
	host, name, port := splitHost(rest)
	if _, scope := cutLast(host, "%"); !isQualifier(name) || !isQualifier(scope) {
		return endpoint{}, "", errNotEndpoint
	}
	if port != "" {
		n, err := net.LookupPort("udp", port)
		if err != nil || n == 0 {
			return endpoint{}, "", fmt.Errorf("%q is not a port: %w", port, errNoPort)
		}
		e.port = uint16(n) // LookupPort returns 0 to 65535
	}
	if e.addr, err = netip.ParseAddr(host); err == nil {
		scope := e.addr.Zone()
		e.addr = e.addr.Unmap().WithZone("")
		if scope != "" && !isLinkLocal(e.addr) {
			warning = unscopedWarning(scope)
		} else {
			e.addr = e.addr.WithZone(scope)
		}
		if w := e.qualify(name); w != "" {
			warning = w
		}
		return e, warning, nil
	}
	e.host = strings.ToLower(strings.TrimSuffix(host, "."))
	if !isHostname(e.host) {
		return endpoint{}, "", errNotEndpoint
	}
	return e, e.qualify(name), nil
}

// errNoPort marks endpoints that can be read but never be reached.
var errNoPort = errors.New("accepted is a number from 1 to 65535 or the name of a service")

// qualify applies what stood behind the percent sign: for plain DNS it is the scope of a link-local address, for all
// others the name to verify.
func (e *endpoint) qualify(name string) (warning string) {
	switch {
	case name == "":
	case e.transport != upstream.DNS:
		e.serverName = name
	case isLinkLocal(e.addr):
		e.addr = e.addr.WithZone(name)
	default:
		warning = unscopedWarning(name)
	}
	return warning
}

// isQualifier tells whether s can stand behind a percent sign: as the name of a network interface or of a server, or as
// nothing at all.
func isQualifier(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' || strings.IndexByte("[]%:/", s[i]) >= 0 {
			return false
		}
	}
	return true
}

func isLinkLocal(addr netip.Addr) bool { return addr.Is6() && addr.IsLinkLocalUnicast() }

func unscopedWarning(scope string) string {
	return fmt.Sprintf("%%%s has no meaning for an address that is not a link-local IPv6 address", scope)
}

// splitHost takes HOST[%NAME][:PORT] apart. HOST is an IPv4 address, a host name, or an IPv6 address; brackets around
// the latter, with the name inside of them, are needed where a port follows. What is left of the last percent sign
// belongs to HOST, so that a link-local address can have both a scope and a name.
func splitHost(s string) (host, name, port string) {
	if inside, after, ok := strings.Cut(strings.TrimPrefix(s, "["), "]"); ok && s[0] == '[' {
		host, name = cutLast(inside, "%")
		return host, name, strings.TrimPrefix(after, ":")
	}
	host, name = cutLast(s, "%")
	if name != "" {
		name, port, _ = strings.Cut(name, ":")
		return host, name, port
	}
	if strings.Count(host, ":") == 1 {
		host, port, _ = strings.Cut(host, ":")
	}
	return host, "", port
}

// cutLast splits s at the last sep, which neither part keeps.
func cutLast(s, sep string) (before, after string) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):]
	}
	return s, ""
}

// cutPath splits the authority of a URL from its path, which keeps its slash. The path "/" alone is the default one, as
// URLs without a path mean it.
func cutPath(s string) (authority, path string) {
	i := strings.IndexByte(s, '/')
	if i < 0 {
		return s, ""
	}
	if authority, path = s[:i], s[i:]; path == "/" {
		path = ""
	}
	return authority, path
}

// isHostname tells whether s can be the name of a host (RFC 1123, section 2.1, and underscores, which happen). The last
// label of a name is never all digits: that is an address with a mistake in it.
func isHostname(s string) bool {
	if _, ok := dns.IsDomainName(s); !ok || s == "" || strings.HasPrefix(s, ".") {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	last := s[strings.LastIndexByte(s, '.')+1:]
	return strings.Trim(last, "0123456789") != ""
}
