//go:build cloud

package main

// The plugins that bring a vendor's client libraries with them: they more than double the binary.
import (
	_ "github.com/coredns/coredns/plugin/azure"
	_ "github.com/coredns/coredns/plugin/clouddns"
	_ "github.com/coredns/coredns/plugin/nomad"
	_ "github.com/coredns/coredns/plugin/route53"
	_ "github.com/coredns/coredns/plugin/trace"

	"github.com/coredns/caddy"
)

// leftOut is empty: this build has all of CoreDNS's directives.
var leftOut []string

// explainLeftOut has nothing to explain in a build with all plugins.
func explainLeftOut(string) (caddy.Input, error) { return nil, nil }
