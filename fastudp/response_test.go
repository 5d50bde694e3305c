//go:build linux

package fastudp

import (
	"net"
	"net/netip"
	"testing"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"
)

// responseFor makes a response of the tenure in force, to a client that has sent something to the first lane.
func responseFor(t testing.TB, f *front, client *net.UDPAddr) *response {
	t.Helper()
	tn := f.current.Load()
	peer := mmsg.PeerOf(netip.AddrPortFrom(client.AddrPort().Addr().Unmap(), uint16(client.Port)))
	return newResponse(tn, f.lanes[0], &peer)
}
