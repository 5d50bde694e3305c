package test

// The plugins that the Corefiles of this package's tests and of the documents use.
import (
	"os"
	"slices"
	"testing"

	"github.com/coredns/coredns/core/dnsserver"
	_ "github.com/coredns/coredns/plugin/acl"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/chaos"
	_ "github.com/coredns/coredns/plugin/dnssec"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/shed"
	_ "github.com/coredns/coredns/plugin/template"
	_ "github.com/coredns/coredns/plugin/tls"
	_ "github.com/coredns/coredns/plugin/transfer"
	_ "github.com/coredns/coredns/plugin/whoami"
	_ "github.com/trident-dns/trident/etcd"
	_ "github.com/trident-dns/trident/etcd/embedded"
	_ "github.com/trident-dns/trident/fastudp"
	_ "github.com/trident-dns/trident/forward"
	_ "github.com/trident-dns/trident/hosts"
)

// TestMain puts fastudp where cmd/coredns does.
func TestMain(m *testing.M) {
	all := slices.Clone(dnsserver.Directives)
	if err := dnsserver.SetDirectives(slices.Insert(all, slices.Index(all, "shed")+1, "fastudp")); err != nil {
		panic(err) // a list of CoreDNS's own
	}
	os.Exit(m.Run())
}
