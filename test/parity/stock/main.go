// Command stock is CoreDNS with the in-tree hosts, forward and etcd and little else, so that it builds quickly: the
// server that the parity tests and the benchmarks put beside ours.
package main

import (
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/etcd"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/pprof"

	"github.com/coredns/coredns/coremain"
)

func main() { coremain.Run() }
