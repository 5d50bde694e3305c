//go:build !cloud

package main

import (
	"sync"

	"github.com/coredns/caddy"
)

// leftOut names the directives of CoreDNS that this build lacks; plugins_cloud.go has them.
var leftOut = []string{"azure", "clouddns", "nomad", "route53", "trace"}

// explainLeftOut is a Corefile loader that loads nothing. CoreDNS calls loaders after its flags and before the Corefile
// is read: by then -plugins has been answered, and the directives that are missing can get a set-up that says why.
func explainLeftOut(serverType string) (caddy.Input, error) {
	registerLeftOut(serverType)
	return nil, nil
}

// registerLeftOut runs once: loaders are called again at each reload.
var registerLeftOut = func() func(string) {
	var once sync.Once
	return func(serverType string) {
		once.Do(func() {
			for _, name := range leftOut {
				caddy.RegisterPlugin(name, caddy.Plugin{ServerType: serverType, Action: refuse})
			}
		})
	}
}()

// refuse is the set-up of a directive that was left out.
func refuse(c *caddy.Controller) error {
	c.Next()
	return c.Errf("directive %q was left out of this binary: build it with -tags cloud "+
		"(go build -tags cloud ./cmd/coredns)", c.Val())
}
