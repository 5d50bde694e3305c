//go:build linux

package fastudp

import (
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/test/server"
)

func TestWhatDoesNotGoTogetherIsRefusedAtStart(t *testing.T) {
	for _, tt := range []struct{ name, corefile, want string }{
		{"TLS", "tls://.:0 {\n fastudp\n echo\n}", "only plain DNS"},
		{"TLS beside plain DNS", ".:0 tls://.:0 {\n fastudp\n echo\n}", "only plain DNS"},
		{"proxyproto in the block", ".:0 {\n proxyproto\n fastudp\n echo\n}", "proxyproto cannot be used"},
		{"proxyproto in another block of the listener",
			"a.:0 {\n fastudp\n echo\n}\nb.:0 {\n proxyproto\n echo\n}", "proxyproto cannot be used"},
		{"shed in a later block of the listener",
			"a.:0 {\n fastudp\n echo\n}\nb.:0 {\n shed\n echo\n}", "put fastudp into that"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := server.StartError(t, tt.corefile)
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "Corefile:") {
				t.Errorf("error %q, want file, line and %q in it", err, tt.want)
			}
		})
	}
}

func TestWhatListensElsewhereIsNobodysBusiness(t *testing.T) {
	ports := []string{freeport.Port(t), freeport.Port(t), freeport.Port(t)}
	start(t, "dns://127.0.0.1:"+ports[0], corefile(
		bound(ports[0], "fastudp"), bound(ports[1], "shed"), bound(ports[2], "proxyproto")))
	for _, port := range ports {
		up(t, "127.0.0.1:"+port)
	}
}
