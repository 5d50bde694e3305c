package etcd

import (
	"strings"
	"testing"

	"github.com/coredns/caddy"

	"github.com/trident-dns/trident/plugin/skydns"
)

// FuzzBlock: whatever a block says, it is read or refused with its line, and what is read can be used.
func FuzzBlock(f *testing.F) {
	for name, p := range properties {
		f.Add(name + " " + strings.Repeat("1 ", p.min))
	}
	f.Add("soa a. b@c 1h 2 3\nmode exact\npath /a/b/\nendpoint a:1 https://b\ntls\nmin-lease-ttl 5m")
	f.Fuzz(func(t *testing.T, block string) {
		// Not for the file system: what is read there is not this parser's.
		for _, word := range []string{"tls", "credentials_file", "snapshot", "import", "{"} {
			if strings.Contains(block, word) {
				return
			}
		}
		c := caddy.NewTestController("dns", "etcd example.org {\n"+block+"\n}")
		c.Next()
		cfg, err := parse(c)
		if err != nil {
			if !strings.Contains(err.Error(), "Testfile:") {
				t.Fatalf("%q: %v names no line", block, err)
			}
			return
		}
		if got := skydns.ParsePrefix(string(cfg.prefix)); got != cfg.prefix {
			t.Errorf("%q: path %q is not clean", block, cfg.prefix)
		}
		for _, ep := range cfg.etcdEndpoints() {
			if !strings.Contains(ep, "://") {
				t.Errorf("%q: endpoint %q has no scheme", block, ep)
			}
		}
		for _, name := range []string{cfg.settings.SOA.MName, cfg.settings.SOA.RName} {
			if _, err := skydns.CheckName(name); name != "" && err != nil {
				t.Errorf("%q: %v", block, err)
			}
		}
		newEtcd(cfg)
	})
}
