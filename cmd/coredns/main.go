// Command coredns is CoreDNS with Trident's hosts, forward and etcd in place of the in-tree plugins of those names. Its
// command line is CoreDNS's own: coredns -conf Corefile serves, -plugins lists what it was built with.
package main

import (
	"github.com/coredns/caddy"
	"github.com/coredns/coredns/coremain"
)

// version is Trident's own. A release sets it with -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	// Both versions: -version, the start-up lines and the chaos plugin's version.bind show them.
	caddy.AppVersion = coremain.CoreVersion + " Trident-" + version
	caddy.RegisterCaddyfileLoader("left-out directives", caddy.LoaderFunc(explainLeftOut))
	coremain.Run()
}
