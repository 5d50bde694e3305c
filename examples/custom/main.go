// Command custom is an example of a CoreDNS of one's own: Trident's plugins, a few of CoreDNS's, and the order in which
// questions pass them, in a program that knows nothing else.
//
// The in-tree plugins hosts, forward and etcd must not be linked in beside Trident's, so that CoreDNS's plugins are
// imported one by one and not as core/plugin.
package main

import (
	"log"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/trident-dns/trident/etcd"
	_ "github.com/trident-dns/trident/fastudp"
	_ "github.com/trident-dns/trident/forward"
	_ "github.com/trident-dns/trident/hosts"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
)

// directives are those that a Corefile may have here, in the order in which a question passes their plugins: what sets up
// a listener first, then what looks at every question, then what answers. Here hosts wins over etcd, and forward gets
// what is left.
var directives = []string{
	"reload", "bind", "fastudp", "health", "ready", "prometheus", "errors", "log", "cache", "hosts", "etcd", "forward",
}

func main() {
	if err := dnsserver.SetDirectives(directives); err != nil {
		log.Fatal(err)
	}
	coremain.Run()
}
