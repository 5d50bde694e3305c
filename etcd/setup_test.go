package etcd

import (
	"bytes"
	golog "log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coredns/caddy"

	"github.com/trident-dns/trident/plugin/backend"

	"github.com/trident-dns/trident/etcd/embedhook"
)

func parseText(t *testing.T, text string) (*config, error) {
	t.Helper()
	c := caddy.NewTestController("dns", text)
	c.Next()
	return parse(c)
}

// It comes first: the next test registers an embedded etcd, for good.
func TestEmbedNamesTheMissingImport(t *testing.T) {
	if embedhook.Available() {
		t.Skip("this test binary has an embedded etcd")
	}
	_, err := parseText(t, "etcd a.b {\nembed dir\n}")
	if err == nil || !strings.Contains(err.Error(), embedhook.Import) {
		t.Errorf("got %v, want an error that names %s", err, embedhook.Import)
	}
}

// Also E21 (path of several segments), E24b (no floor), E25 (SOA) and E38 (properties without effect).
func TestPropertiesAreRead(t *testing.T) {
	embedhook.Register(func(embedhook.Config) (embedhook.Server, error) { return nil, nil })
	login := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(login, []byte("user: pass word \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		block string
		ok    func(*config) bool
	}{
		{"", func(c *config) bool {
			return c.prefix == "/skydns" && slices.Equal(c.etcdEndpoints(), []string{"http://localhost:2379"}) &&
				c.settings.TTL == 300 && c.settings.NegativeTTL == 30 && c.settings.Priority == 10 &&
				c.settings.Mode == backend.SkyDNS && c.settings.SOA == backend.Defaults().SOA && c.leases == leaseBounds{30, 86400} && c.maxStale == 0 && !c.readyAlways &&
				c.mirrorConfig(c.etcdEndpoints()).Login == nil && c.mirrorConfig(c.etcdEndpoints()).TLS == nil
		}},
		{"path a/b/", func(c *config) bool { return c.prefix == "/a/b" }},
		{"endpoint http://a:1 b:2", func(c *config) bool {
			return slices.Equal(c.etcdEndpoints(), []string{"http://a:1", "http://b:2"})
		}},
		{"endpoint a:1 unix://s\ntls", func(c *config) bool {
			return slices.Equal(c.etcdEndpoints(), []string{"https://a:1", "unixs://s"})
		}},
		{"endpoint a:1 https://b:2", func(c *config) bool {
			return slices.Equal(c.etcdEndpoints(), []string{"https://a:1", "https://b:2"})
		}},
		{"credentials user pass", func(c *config) bool {
			l, err := c.mirrorConfig(c.etcdEndpoints()).Login()
			return err == nil && l.Username == "user" && l.Password == "pass"
		}},
		{`credentials user ""`, func(c *config) bool { return c.mirrorConfig(c.etcdEndpoints()).Login == nil }},
		{"credentials_file " + login, func(c *config) bool {
			l, err := c.mirrorConfig(c.etcdEndpoints()).Login()
			return err == nil && l.Username == "user" && l.Password == "pass word"
		}},
		{"endpoint https://a:1\ntls", func(c *config) bool { return c.tls && len(c.tlsArgs) == 0 }},
		{"endpoint https://a:1\ntls_servername b", func(c *config) bool {
			conf, err := c.mirrorConfig(c.endpoints).TLS()
			return err == nil && conf.ServerName == "b"
		}},
		{"embed dir", func(c *config) bool { return c.embed.Dir == "dir" && c.embed.ClientURL == "" && c.embed.Seed == "" }},
		{"embed dir seed\nendpoint 127.0.0.1:1", func(c *config) bool {
			return c.embed.Seed == "seed" && c.embed.ClientURL == "http://127.0.0.1:1"
		}},
		{"fallthrough", func(c *config) bool { return c.fall.Through("a.b.") }},
		{"fallthrough a.b", func(c *config) bool { return c.fall.Through("x.a.b.") && !c.fall.Through("b.") }},
		{"no_apex_fallback", func(c *config) bool { return c.settings.NoApexFallback }},
		{"mode exact", func(c *config) bool { return c.settings.Mode == backend.Exact }},
		{"mode skydns", func(c *config) bool { return c.settings.Mode == backend.SkyDNS }},
		{"ttl 1h", func(c *config) bool { return c.settings.TTL == 3600 }},
		{"negative_ttl 0", func(c *config) bool { return c.settings.NegativeTTL == 0 }},
		{"priority 0", func(c *config) bool { return c.settings.Priority == 0 }},
		{"soa ns.a. john.doe@b.c", func(c *config) bool {
			return c.settings.SOA == backend.SOA{MName: "ns.a.", RName: `john\.doe.b.c.`, Refresh: 7200, Retry: 1800, Expire: 86400}
		}},
		{"soa ns.a x.b 1h 2m 3", func(c *config) bool {
			return c.settings.SOA == backend.SOA{MName: "ns.a.", RName: "x.b.", Refresh: 3600, Retry: 120, Expire: 3}
		}},
		{"min-lease-ttl 0", func(c *config) bool { return c.leases.min == 0 }},
		{"min-lease-ttl 2h30m", func(c *config) bool { return c.leases.min == 9000 }},
		{"max-lease-ttl 1h", func(c *config) bool { return c.leases.max == 3600 }},
		{"max-lease-ttl 0", func(c *config) bool { return c.leases.max == 86400 }},
		{"max_stale 1h", func(c *config) bool { return c.maxStale == time.Hour }},
		{"ready always", func(c *config) bool { return c.readyAlways }},
		{"stubzones", func(c *config) bool { return c.stubZones && !c.fleet }},
		{"local Node1.A.B", func(c *config) bool { return c.local == "Node1.A.B." }},
		{"config\nttl 5", func(c *config) bool { return c.fleet && c.pinned["ttl"] && !c.pinned["priority"] }},
		{"debug\nupstream 1.1.1.1 2.2.2.2\nupstream", func(*config) bool { return true }},
	} {
		c, err := parseText(t, "etcd a.b c.d {\n"+tt.block+"\n}")
		if err != nil {
			t.Errorf("%q: %v", tt.block, err)
			continue
		}
		if !tt.ok(c) {
			t.Errorf("%q was read as %+v", tt.block, c)
		}
		if !slices.Equal(c.zones, []string{"a.b.", "c.d."}) {
			t.Errorf("%q: zones %q", tt.block, c.zones)
		}
	}
}

// E30 (mixed schemes, TLS that would be ignored) and everything else that is refused.
func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	for _, tt := range []struct{ block, want string }{
		{"nonsense", "unknown property 'nonsense', want one of config, credentials, "},
		{"nonsense", ", tls, tls_servername, ttl, upstream"},
		{"path", "path: 0 arguments, want path PATH"},
		{"path a b", "path: 2 arguments"},
		{"endpoint", "endpoint: 0 arguments, want endpoint ENDPOINT..."},
		{"endpoint http://a https://b", "do not mix"},
		{"tls", "every endpoint is http://"},
		{"tls_servername a", "every endpoint is http://"},
		{"endpoint https://a\ntls a b c d", "tls: 4 arguments"},
		{"endpoint https://a\ntls /nonexistent", "tls: "},
		{"credentials", "credentials: 0 arguments, want credentials USERNAME PASSWORD"},
		{"credentials a", "credentials: 1 arguments"},
		{"credentials_file /nonexistent", "credentials_file: "},
		{"embed", "embed: 0 arguments, want embed DIR [SEED]"},
		{"embed d\nendpoint http://a http://b", "one endpoint"},
		{"embed d\nendpoint https://a", "one endpoint"},
		{"no_apex_fallback yes", "no_apex_fallback: 1 arguments, want no_apex_fallback"},
		{"mode strict", `mode: "strict" is unknown, want skydns or exact`},
		{"ttl 0", "ttl: "},
		{"ttl soon", "ttl: \"soon\": want seconds or a duration"},
		{"negative_ttl -1s", "negative_ttl: "},
		{"priority 65536", "priority: "},
		{"soa a", "soa: 1 arguments, want soa MNAME RNAME [REFRESH RETRY EXPIRE]"},
		{"soa a..b c", "soa: "},
		{"soa a c 0", "soa: "},
		{"min-lease-ttl", "min-lease-ttl: 0 arguments, want min-lease-ttl DURATION"},
		{"min-lease-ttl -5", "min-lease-ttl: "},
		{"max-lease-ttl 99999999999", "max-lease-ttl: "},
		{"max_stale 5", "max_stale: "},
		{"ready never", "ready: \"never\" is unknown, want always"},
		{"local", "local: 0 arguments, want local NAME"},
		{"local a..b", `local: "a..b" is not a name`},
		{"local node.x.y", "in none of the zones a.b."},
		{"config a", "config: 1 arguments, want config"},
		{"stubzones a", "stubzones: 1 arguments"},
	} {
		_, err := parseText(t, "etcd a.b {\n"+tt.block+"\n}")
		if err == nil {
			t.Errorf("%q was accepted", tt.block)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "Testfile:") {
			t.Errorf("%q: %v, want a file, a line and %q", tt.block, err, tt.want)
		}
	}
}

// v1.15.0 loads such a block, and nobody finds out why there is no data.
func TestEndpointsThatCannotBeReachedAreWarnedOf(t *testing.T) {
	for endpoint, want := range map[string]string{
		"1.2.3.4:2379x": "Testfile:2", "http://a:": "has no port", "a:99999": "has no port", "https://": "has no host",
		"ftp://a:1": "unknown scheme", "http://[::1]:2379x": "has no port",
		"a:2379": "", "http://[::1]:2379": "", "https://a": "", "unix:///run/etcd.sock": "", "localhost": "", "[::1]": "",
	} {
		var out bytes.Buffer
		old := golog.Writer()
		golog.SetOutput(&out)
		_, err := parseText(t, "etcd a.b {\nendpoint "+endpoint+"\n}")
		golog.SetOutput(old)
		if got := out.String(); err != nil || !strings.Contains(got, want) || (want == "") != (got == "") ||
			want != "" && !strings.Contains(got, "want [http[s]://]HOST:PORT") {
			t.Errorf("%s: %v, logged %q, want %q", endpoint, err, got, want)
		}
	}
}

func TestLeaseTTLs(t *testing.T) {
	b := leaseBounds{min: 30, max: 3600}
	for _, tt := range []struct {
		bounds  leaseBounds
		granted uint32
		known   bool
		ttl     uint32
		own     bool
		want    uint32
	}{
		{b, 60, true, 300, false, 60},
		{b, 60, true, 10, true, 10},
		{b, 60, true, 300, true, 60},
		{b, 5, true, 300, false, 30},
		{b, 99999, true, 300, false, 3600},
		{b, 0, false, 300, false, 30},
		{b, 0, false, 10, true, 10},
		{leaseBounds{min: 0, max: 3600}, 5, true, 300, false, 5},
	} {
		if got := tt.bounds.ttl(tt.granted, tt.known, tt.ttl, tt.own); got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
}

func TestTheClosestZoneAnswers(t *testing.T) {
	z := newEtcd(&config{zones: []string{"zone.test.", "sub.zone.test.", "other.test."}}).zones
	for name, want := range map[string]string{
		"zone.test.": "zone.test.", "a.zone.test.": "zone.test.", "a.sub.zone.test.": "sub.zone.test.",
		"xsub.zone.test.": "zone.test.", "test.": "", ".": "", "azone.test.": "", `a\.zone.test.`: "",
	} {
		got := ""
		if s := z.match(name); s != nil {
			got = s.Name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if top := z.top("sub.zone.test."); top.Name != "zone.test." {
		t.Errorf("keys of sub.zone.test. come with those of %s", top.Name)
	}
	if s := newEtcd(&config{zones: []string{"."}}).zones.match("a.b."); s == nil || s.Name != "." {
		t.Errorf("the root zone: %v", s)
	}
}
