package etcd

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/coredns/coredns/plugin"

	"github.com/trident-dns/trident/plugin/backend"
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/embedhook"
)

// property is a line of a block.
type property struct {
	min, max int    // number of arguments; max -1: any
	usage    string // the arguments
	set      func(cfg *config, args []string, root string) error
}

var properties = map[string]property{
	"path":             {1, 1, "PATH", setPath},
	"endpoint":         {1, -1, "ENDPOINT...", setEndpoint},
	"credentials":      {2, 2, "USERNAME PASSWORD", setCredentials},
	"credentials_file": {1, 1, "FILE", setCredentialsFile},
	"tls":              {0, 3, "[CERT KEY] [CACERT]", setTLS},
	"tls_servername":   {1, 1, "NAME", setTLSServerName},
	"embed":            {1, 2, "DIR [SEED]", setEmbed},
	"fallthrough":      {0, -1, "[ZONES...]", setFallthrough},
	"no_apex_fallback": {0, 0, "", setNoApexFallback},
	"mode":             {1, 1, "skydns|exact", setMode},
	"ttl":              {1, 1, "DURATION", setTTL},
	"negative_ttl":     {1, 1, "DURATION", setNegativeTTL},
	"priority":         {1, 1, "PRIORITY", setPriority},
	"soa":              {2, 5, "MNAME RNAME [REFRESH RETRY EXPIRE]", setSOA},
	"min-lease-ttl":    {1, 1, "DURATION", setMinLeaseTTL},
	"max-lease-ttl":    {1, 1, "DURATION", setMaxLeaseTTL},
	"max_stale":        {1, 1, "DURATION", setMaxStale},
	"snapshot":         {1, 1, "FILE", setSnapshot},
	"ready":            {1, 1, "always", setReady},
	"stubzones":        {0, 0, "", setStubZones},
	"config":           {0, 0, "", setConfig},
	"local":            {1, 1, "NAME", setLocal},
	"debug":            {0, 0, "", warnNothing("debug")},
	"upstream":         {0, -1, "[ADDRESS...]", warnNothing("upstream")},
}

func setPath(cfg *config, args []string, _ string) error {
	cfg.prefix = skydns.ParsePrefix(args[0])
	return nil
}

func setEndpoint(cfg *config, args []string, _ string) error {
	cfg.endpoints = args
	return nil
}

func setCredentials(cfg *config, args []string, _ string) error {
	cfg.username, cfg.password, cfg.passwordFile = args[0], args[1], ""
	if args[0] == "" || args[1] == "" {
		log.Warning("credentials without a user name or a password do nothing")
	}
	return nil
}

func setCredentialsFile(cfg *config, args []string, root string) error {
	cfg.passwordFile = absolute(args[0], root)
	_, err := readLogin(cfg.passwordFile)
	return err
}

func setTLS(cfg *config, args []string, root string) error {
	cfg.tls, cfg.tlsArgs = true, nil
	for _, file := range args {
		cfg.tlsArgs = append(cfg.tlsArgs, absolute(file, root))
	}
	_, err := cfg.loadTLS()
	return err
}

func setTLSServerName(cfg *config, args []string, _ string) error {
	cfg.tlsServerName = args[0]
	return nil
}

func setEmbed(cfg *config, args []string, root string) error {
	cfg.embed = &embedhook.Config{Dir: absolute(args[0], root)}
	if len(args) > 1 {
		cfg.embed.Seed = absolute(args[1], root)
	}
	return nil
}

func setFallthrough(cfg *config, args []string, _ string) error {
	cfg.fall.SetZonesFromArgs(args)
	return nil
}

func setNoApexFallback(cfg *config, _ []string, _ string) error {
	cfg.settings.NoApexFallback = true
	return nil
}

func setMode(cfg *config, args []string, _ string) error {
	switch args[0] {
	case "skydns":
		cfg.settings.Mode = backend.SkyDNS
	case "exact":
		cfg.settings.Mode = backend.Exact
	default:
		return fmt.Errorf("%q is unknown, want skydns or exact", args[0])
	}
	return nil
}

func setTTL(cfg *config, args []string, _ string) (err error) {
	cfg.settings.TTL, err = parseTTL(args[0], 1)
	return err
}

func setNegativeTTL(cfg *config, args []string, _ string) (err error) {
	cfg.settings.NegativeTTL, err = parseTTL(args[0], 0)
	return err
}

func setMinLeaseTTL(cfg *config, args []string, _ string) (err error) {
	cfg.leases.min, err = parseTTL(args[0], 0)
	return err
}

func setMaxLeaseTTL(cfg *config, args []string, _ string) (err error) {
	cfg.leases.max, err = parseTTL(args[0], 0)
	if cfg.leases.max == 0 {
		cfg.leases.max = defaultLeases.max // as in-tree
	}
	return err
}

func setPriority(cfg *config, args []string, _ string) error {
	n, err := strconv.ParseUint(args[0], 10, 16)
	if err != nil {
		return fmt.Errorf("%q is not a number from 0 to %d", args[0], math.MaxUint16)
	}
	cfg.settings.Priority = uint16(n)
	return nil
}

func setSOA(cfg *config, args []string, _ string) (err error) {
	soa := &cfg.settings.SOA
	if soa.MName, err = parseName(args[0]); err != nil {
		return err
	}
	if soa.RName, err = parseMailbox(args[1]); err != nil {
		return err
	}
	for i, timer := range []*uint32{&soa.Refresh, &soa.Retry, &soa.Expire} {
		if len(args) > 2+i {
			if *timer, err = parseTTL(args[2+i], 1); err != nil {
				return err
			}
		}
	}
	return nil
}

func setMaxStale(cfg *config, args []string, _ string) error {
	d, err := time.ParseDuration(args[0])
	if err != nil || d < time.Second {
		return fmt.Errorf("%q is not a duration of 1s or more", args[0])
	}
	cfg.maxStale = d
	return nil
}

func setSnapshot(cfg *config, args []string, root string) error {
	file, err := filepath.Abs(absolute(args[0], root))
	cfg.snapshot = file
	return err
}

func setReady(cfg *config, args []string, _ string) error {
	if args[0] != "always" {
		return fmt.Errorf("%q is unknown, want always", args[0])
	}
	cfg.readyAlways = true
	return nil
}

func setStubZones(cfg *config, _ []string, _ string) error {
	cfg.stubZones = true
	return nil
}

func setConfig(cfg *config, _ []string, _ string) error {
	cfg.fleet = true
	return nil
}

func setLocal(cfg *config, args []string, _ string) error {
	name, err := parseName(args[0])
	if err != nil {
		return err
	}
	if plugin.Zones(cfg.zones).Matches(strings.ToLower(name)) == "" {
		return fmt.Errorf("%q is in none of the zones %s", args[0], strings.Join(cfg.zones, ", "))
	}
	cfg.local = name
	return nil
}

// warnNothing is for properties that once did something, and are still in Corefiles.
func warnNothing(name string) func(*config, []string, string) error {
	return func(*config, []string, string) error {
		log.Warningf("%s does nothing and can be removed", name)
		return nil
	}
}

// parseMailbox returns the name of a mailbox, which may be given as a mail address: the first label is the part before the
// @, whose dots are escaped (RFC 1035, section 8).
func parseMailbox(s string) (string, error) {
	if user, host, ok := strings.Cut(s, "@"); ok {
		s = strings.ReplaceAll(user, ".", `\.`) + "." + host
	}
	return parseName(s)
}

// parseName returns a name fully qualified.
func parseName(s string) (string, error) {
	name, err := skydns.CheckName(s)
	if err != nil {
		return "", fmt.Errorf("%q is not a name", s)
	}
	return name, nil
}

// errTTL is the whole truth about what a TTL looks like.
var errTTL = errors.New("want seconds or a duration such as 30, 30s, 5m or 2h30m")

// parseTTL reads seconds or a duration, at least least seconds and at most those of a 32-bit number. As in-tree, an
// empty one is 0.
func parseTTL(s string, least uint32) (uint32, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		s = "0"
	}
	if _, err := strconv.ParseUint(s, 10, 64); err == nil {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	switch seconds := d / time.Second; {
	case err != nil:
		return 0, fmt.Errorf("%q: %w", s, errTTL)
	case d < 0 || seconds < time.Duration(least) || seconds > math.MaxUint32:
		return 0, fmt.Errorf("%q is not between %d and %d seconds", s, least, uint32(math.MaxUint32))
	default:
		return uint32(seconds), nil
	}
}
