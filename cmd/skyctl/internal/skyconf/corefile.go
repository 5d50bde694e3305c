package skyconf

import (
	"fmt"
	"net"
	"strings"

	"github.com/miekg/dns"
)

// Corefile returns the Corefile. endpoints are those to use when the configuration names no machines. What has no
// counterpart is said in comments at its top, and in Notes.
func (c *Config) Corefile(endpoints []string) (string, error) {
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return "", fmt.Errorf("%w: address %q: %w", ErrConfig, c.Addr, err)
	}
	if _, ok := dns.IsDomainName(c.Domain); !ok || c.Domain == "." {
		return "", fmt.Errorf("%w: domain %q", ErrConfig, c.Domain)
	}
	w := &writer{}
	w.open(".:%s", port)
	if host != "" && host != "0.0.0.0" && host != "::" {
		w.line("bind %s", host)
	}
	w.line("errors")
	if c.Verbose {
		w.line("log")
	}
	c.metrics(w)
	w.line("chaos")
	c.cache(w)
	if c.RoundRobin {
		w.line("loadbalance")
	}
	c.sign(w)
	w.open("acl")
	w.line("block type ANY")
	w.shut()
	c.guard(w)
	c.records(w, endpoints)
	c.forward(w)
	w.shut()
	c.remark()
	var top strings.Builder
	top.WriteString("# The service of SkyDNS, as its configuration says.\n")
	for _, n := range c.Notes {
		fmt.Fprintf(&top, "# - %s\n", strings.Map(oneLine, n))
	}
	return top.String() + w.b.String(), nil
}

// oneLine keeps a note from ending its comment.
func oneLine(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

func (c *Config) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

func (c *Config) metrics(w *writer) {
	if c.MetricsPort == "" {
		return
	}
	w.line("prometheus 0.0.0.0:%s", c.MetricsPort)
	c.note("metrics have CoreDNS's names (coredns_dns_*, coredns_etcd_*, coredns_forward_*), and the path /metrics")
}

func (c *Config) cache(w *writer) {
	if c.RCache == 0 {
		return
	}
	ttl := max(int(c.RCacheTTL.Seconds()), 1)
	w.open("cache %d", ttl)
	w.line("success %d %d", c.RCache, ttl)
	w.line("denial %d %d", c.RCache, ttl)
	w.shut()
	c.note("the cache keeps to the TTLs of records: %d seconds is the longest that it keeps them, not how long", ttl)
}

func (c *Config) sign(w *writer) {
	if c.DNSSEC == "" {
		return
	}
	w.open("dnssec %s", c.Domain)
	w.line("key file %s", quote(strings.ReplaceAll(c.DNSSEC, " ", "+")))
	w.line("cache_capacity %d", c.SCache)
	w.shut()
	c.note("denial is signed by NSEC (RFC 9824), not by NSEC3: a name that does not exist is NODATA to those who validate")
}

// guard keeps names of few labels from being sent on.
func (c *Config) guard(w *writer) {
	if c.NoRec || c.NDots < 2 {
		return
	}
	if dns.CountLabel(c.Domain) < c.NDots {
		c.note("names of fewer than %d labels are sent on: the domain %s is one of them", c.NDots, c.Domain)
		return
	}
	w.open("template ANY ANY .")
	w.line(`match "^([^.]+\.){1,%d}$"`, c.NDots-1)
	w.line("rcode SERVFAIL")
	w.line("fallthrough")
	w.shut()
}

func (c *Config) records(w *writer, endpoints []string) {
	if c.Machines != "" {
		endpoints = strings.Split(c.Machines, ",")
	}
	w.open("etcd %s in-addr.arpa ip6.arpa", c.Domain)
	w.line("path /%s", strings.Trim(c.PathPrefix, "/"))
	words := make([]string, len(endpoints))
	for i, e := range endpoints {
		words[i] = quote(endpoint(strings.TrimSpace(e), c.TLSPem+c.TLSKey+c.CACert != ""))
	}
	w.line("endpoint %s", strings.Join(words, " "))
	switch pair := c.TLSPem != "" && c.TLSKey != ""; {
	case pair && c.CACert != "":
		w.line("tls %s %s %s", quote(c.TLSPem), quote(c.TLSKey), quote(c.CACert))
	case pair:
		w.line("tls %s %s", quote(c.TLSPem), quote(c.TLSKey))
	case c.CACert != "":
		w.line("tls %s", quote(c.CACert))
	}
	if c.Username != "" {
		w.line("credentials %s {$ETCD_PASSWORD}", quote(c.Username))
		c.note("the password for etcd is taken from ETCD_PASSWORD in the environment; credentials_file reads it from a file")
	}
	w.line("ttl %d", c.TTL)
	w.line("negative_ttl %d", c.MinTTL)
	w.line("priority %d", c.Priority)
	w.line("soa ns.dns.%s %s 28800 7200 604800", c.Domain, quote(c.Hostmaster))
	if c.StubZones {
		w.line("stubzones")
	}
	if c.Local != "" {
		w.line("local %s", dns.Fqdn(c.Local))
	}
	w.line("fallthrough in-addr.arpa ip6.arpa")
	w.shut()
}

// endpoint is a machine as a URL.
func endpoint(machine string, secure bool) string {
	switch {
	case strings.Contains(machine, "://"):
		return machine
	case secure:
		return "https://" + machine
	default:
		return "http://" + machine
	}
}

func (c *Config) forward(w *writer) {
	if c.NoRec {
		c.note("names that are not kept here are answered REFUSED, where SkyDNS said SERVFAIL")
		return
	}
	to := "/etc/resolv.conf"
	if c.Nameservers != "" {
		to = strings.Join(strings.FieldsFunc(c.Nameservers, func(r rune) bool { return r == ',' || r == ' ' }), " ")
	}
	policy := "random"
	if !c.NSRotate {
		policy = "sequential"
	}
	w.open("forward . %s", to)
	w.line("policy %s", policy)
	w.shut()
}

// remark says what has no line in the Corefile.
func (c *Config) remark() {
	if c.Systemd {
		c.note("sockets are not taken over from systemd: let the unit start the server, with CAP_NET_BIND_SERVICE for port 53")
	}
	if c.ReadTimeout != defaultReadTimeout {
		c.note("the read timeout of %v is left out: forward has one budget for a question, timeout", c.ReadTimeout)
	}
	if !c.Etcd3 {
		c.note("etcd must be version 3: skyctl import reads what version 2 answers for /v2/keys/%s?recursive=true", strings.Trim(c.PathPrefix, "/"))
	}
}
