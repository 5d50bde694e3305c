// Command coredns is CoreDNS with Trident's hosts, forward and etcd in place of the in-tree plugins of those names. Its
// command line is CoreDNS's own: coredns -conf Corefile serves, -plugins lists what it was built with. Beside that,
// coredns -check -conf Corefile checks without serving.
package main

import (
	"flag"
	"log"
	"os"
	"slices"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	"github.com/trident-dns/trident/internal/buildinfo"
)

// version is Trident's own. A release sets it with -ldflags "-X main.version=1.2.3".
var version = "dev"

// directives are CoreDNS's in their order, which is that in which questions pass the plugins, and fastudp after shed:
// both want to be the writer of a listener, and the later one has the last word.
func directives() []string {
	all := slices.Clone(dnsserver.Directives)
	return slices.Insert(all, slices.Index(all, "shed")+1, "fastudp")
}

func main() {
	if err := dnsserver.SetDirectives(directives()); err != nil {
		log.Fatal(err)
	}
	caddy.AppVersion = buildinfo.Text(version)
	buildinfo.Register(version)
	caddy.RegisterCaddyfileLoader("left-out directives", caddy.LoaderFunc(explainLeftOut))
	flag.Parse() // CoreDNS does so again, to the same effect
	if *checkOnly {
		os.Exit(check(os.Stdout, os.Stderr))
	}
	coremain.Run()
}
