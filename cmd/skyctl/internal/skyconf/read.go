package skyconf

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// defaultReadTimeout is SkyDNS's.
const defaultReadTimeout = 2 * time.Second

// Read puts a configuration together as SkyDNS does: flags come before the environment, and the JSON in etcd before both.
// args are SkyDNS's own, with one dash or two; shared is the JSON, nil for none. Its errors wrap ErrConfig.
func Read(args []string, env func(string) (string, bool), shared []byte) (*Config, error) {
	c := &Config{}
	get := func(name, otherwise string) string {
		if value, ok := env(name); ok && value != "" {
			return value
		}
		return otherwise
	}
	c.MetricsPort, c.MetricsPath = get("PROMETHEUS_PORT", ""), get("PROMETHEUS_PATH", "")
	c.MetricsNamespace, c.MetricsSubsystem = get("PROMETHEUS_NAMESPACE", ""), get("PROMETHEUS_SUBSYSTEM", "")
	flags := c.flags(get)
	ndots, ok := env("SKYDNS_NDOTS")
	if ok && ndots != "" {
		if err := flags.Set("ndots", ndots); err != nil {
			return nil, fmt.Errorf("%w: SKYDNS_NDOTS=%s: %w", ErrConfig, ndots, err)
		}
	}
	if systemd, ok := env("SKYDNS_SYSTEMD"); ok && systemd != "" {
		c.Systemd = systemd == "true"
	}
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%w: it takes no argument such as %q", ErrConfig, flags.Arg(0))
	}
	if shared != nil {
		if err := c.readShared(flags, shared); err != nil {
			return nil, err
		}
	}
	c.Domain = strings.ToLower(strings.TrimSuffix(c.Domain, ".")) + "."
	return c, nil
}

// flags are SkyDNS's, and after them what only the JSON can say.
func (c *Config) flags(env func(name, otherwise string) string) *flag.FlagSet {
	f := flag.NewFlagSet("skydns", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&c.Addr, "addr", env("SKYDNS_ADDR", "127.0.0.1:53"), "")
	f.StringVar(&c.Domain, "domain", env("SKYDNS_DOMAIN", "skydns.local."), "")
	f.StringVar(&c.Local, "local", "", "")
	f.StringVar(&c.Hostmaster, "hostmaster", "hostmaster@skydns.local.", "")
	f.BoolVar(&c.Systemd, "systemd", false, "")
	f.BoolVar(&c.NoRec, "no-rec", false, "")
	f.BoolVar(&c.Verbose, "verbose", false, "")
	f.BoolVar(&c.RoundRobin, "round-robin", true, "")
	f.BoolVar(&c.NSRotate, "ns-rotate", true, "")
	f.StringVar(&c.DNSSEC, "dnssec", "", "")
	f.StringVar(&c.Nameservers, "nameservers", env("SKYDNS_NAMESERVERS", ""), "")
	f.DurationVar(&c.ReadTimeout, "rtimeout", defaultReadTimeout, "")
	f.IntVar(&c.SCache, "scache", 10000, "")
	f.IntVar(&c.RCache, "rcache", 0, "")
	f.DurationVar(&c.RCacheTTL, "rcache-ttl", time.Minute, "")
	f.IntVar(&c.NDots, "ndots", 2, "")
	f.StringVar(&c.Machines, "machines", env("ETCD_MACHINES", ""), "")
	f.StringVar(&c.TLSPem, "tls-pem", env("ETCD_TLSPEM", ""), "")
	f.StringVar(&c.TLSKey, "tls-key", env("ETCD_TLSKEY", ""), "")
	f.StringVar(&c.CACert, "ca-cert", env("ETCD_CACERT", ""), "")
	f.StringVar(&c.Username, "username", env("ETCD_USERNAME", ""), "")
	f.StringVar(&c.Password, "password", env("ETCD_PASSWORD", ""), "")
	f.StringVar(&c.PathPrefix, "path-prefix", env("SKYDNS_PATH_PREFIX", "skydns"), "")
	f.BoolVar(&c.StubZones, "stubzones", false, "")
	f.BoolVar(&c.Etcd3, "etcd3", false, "")
	f.IntVar(&c.Priority, "json:priority", 10, "")
	f.IntVar(&c.TTL, "json:ttl", 3600, "")
	f.IntVar(&c.MinTTL, "json:min_ttl", 60, "")
	return f
}

// jsonNames has the flag for each name in the JSON.
var jsonNames = map[string]string{
	"dns_addr": "addr", "systemd": "systemd", "domain": "domain", "local": "local", "hostmaster": "hostmaster",
	"dnssec": "dnssec", "round_robin": "round-robin", "ns_rotate": "ns-rotate", "nameservers": "nameservers",
	"no_rec": "no-rec", "read_timeout": "rtimeout", "priority": "json:priority", "ttl": "json:ttl", "min_ttl": "json:min_ttl",
	"scache": "scache", "rcache": "rcache", "rcache_ttl": "rcache-ttl", "ndot": "ndots", "etcd3": "etcd3", "verbose": "verbose",
}

func (c *Config) readShared(flags *flag.FlagSet, shared []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(shared, &object); err != nil {
		return fmt.Errorf("%w: the JSON in etcd: %w", ErrConfig, err)
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if name == "ndots" {
			c.Notes = append(c.Notes, `"ndots" in the JSON: SkyDNS documents it, but reads "ndot"`)
			continue
		}
		target, ok := jsonNames[strings.ToLower(name)]
		if !ok {
			c.Notes = append(c.Notes, fmt.Sprintf("%q in the JSON is unknown to SkyDNS", name))
			continue
		}
		value, err := plain(target, object[name])
		if err == nil && value == "" {
			continue // 0 and "" are the default
		}
		if err == nil {
			err = flags.Set(target, value)
		}
		if err != nil {
			return fmt.Errorf("%w: %q in the JSON: %w", ErrConfig, name, err)
		}
	}
	return nil
}

// plain is a JSON value as a flag takes it. Durations are nanoseconds, but for that of rcache, which is seconds.
func plain(flagName string, raw json.RawMessage) (string, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		return fmt.Sprint(v), nil
	case json.Number:
		n, err := v.Int64()
		switch {
		case err != nil || n < 0 || n > math.MaxInt32 && flagName != "rtimeout":
			return "", fmt.Errorf("%s is out of range", v)
		case n == 0:
			return "", nil
		case flagName == "rtimeout":
			return fmt.Sprintf("%dns", n), nil
		case flagName == "rcache-ttl":
			return fmt.Sprintf("%ds", n), nil
		}
		return v.String(), nil
	case []any:
		var parts []string
		for _, part := range v {
			s, ok := part.(string)
			if !ok {
				return "", fmt.Errorf("%v is no string", part)
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, ","), nil
	}
	return "", fmt.Errorf("%s has no business here", raw)
}
