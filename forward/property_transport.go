package forward

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	pkgtls "github.com/coredns/coredns/plugin/pkg/tls"
)

func parseForceTCP(c *caddy.Controller, b *block) error { return flag(c, &b.forceTCP) }

func parsePreferUDP(c *caddy.Controller, b *block) error { return flag(c, &b.preferUDP) }

func parseExpire(c *caddy.Controller, b *block) (err error) {
	b.expire, err = duration(c)
	return err
}

func parseMaxAge(c *caddy.Controller, b *block) (err error) {
	b.maxAge, err = duration(c)
	return err
}

func parseMaxIdleConns(c *caddy.Controller, b *block) error {
	n, err := integer(c, math.MaxInt)
	b.maxIdleConns = int(n)
	return err
}

func parseReadTimeout(c *caddy.Controller, b *block) (err error) {
	b.readTimeout, err = positive(c)
	return err
}

func parseDoHMethod(c *caddy.Controller, b *block) error {
	arg, err := argument(c)
	if err != nil {
		return err
	}
	if arg != http.MethodPost && arg != http.MethodGet {
		return c.Errf("doh_method must be either %s or %s, not %s", http.MethodPost, http.MethodGet, arg)
	}
	b.dohMethod = arg
	return nil
}

func parseTLS(c *caddy.Controller, b *block) error {
	args := c.RemainingArgs()
	if len(args) > 3 {
		return errArguments
	}
	root := dnsserver.GetConfig(c).Root
	for i := range args {
		if !filepath.IsAbs(args[i]) && root != "" {
			args[i] = filepath.Join(root, args[i])
		}
	}
	config, err := pkgtls.NewTLSConfigFromArgs(args...)
	if err != nil {
		return c.Errf("tls: %v: accepted are no files, CA, CERT KEY, or CERT KEY CA", err)
	}
	b.tls, b.tlsFiles, b.tlsKey = config, args, fingerprint(args)
	return nil
}

// fingerprint identifies TLS settings by what is in their files: a certificate renewed in place is another setting, and
// the connections of the old one must not outlive a reload. The arguments without files are settings of their own.
func fingerprint(files []string) string {
	h := sha256.New()
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			content = []byte(err.Error()) // it was readable a moment ago
		}
		sum := sha256.Sum256(content)
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func parseTLSServername(c *caddy.Controller, b *block) (err error) {
	b.serverName, err = argument(c)
	return err
}

func parseSourceAddress(c *caddy.Controller, b *block) error {
	arg, err := argument(c)
	if err != nil {
		return err
	}
	addr, err := netip.ParseAddr(arg)
	if err != nil {
		return c.Errf("source_address: invalid IP address: %s", arg)
	}
	b.source = addr.Unmap()
	return nil
}

func parseResolver(c *caddy.Controller, b *block) error {
	args := c.RemainingArgs()
	if len(args) == 0 {
		return errArguments
	}
	b.resolvers, b.ownResolvers = nil, true
	for _, arg := range args {
		host, port, err := net.SplitHostPort(arg)
		if err != nil {
			host, port = arg, "53"
		}
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return c.Errf("resolver must be an IP address or IP:port: %q", arg)
		}
		n, err := net.LookupPort("udp", port)
		if err != nil || n == 0 {
			log.Warningf("%s:%d: resolver %s is left out: %q is not a port", c.File(), c.Line(), arg, port)
			continue
		}
		b.resolvers = append(b.resolvers, netip.AddrPortFrom(addr.Unmap(), uint16(n))) // LookupPort returns 0 to 65535
	}
	return nil
}
