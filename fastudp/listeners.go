package fastudp

import (
	"fmt"
	"net"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/plugin/pkg/transport"
)

// listeners counts the UDP sockets of an instance that are bound to a.
func listeners(inst *caddy.Instance, a *net.UDPAddr) int {
	n := 0
	for _, s := range inst.Servers() {
		if local := s.LocalAddr(); local != nil && local.String() == a.String() {
			n++
		}
	}
	return n
}

// bindAddress is the host and port that sockets of the tenure's address are opened on. It is what CoreDNS opened its
// own on, but for port 0, where it is what the kernel then gave.
func (t *tenure) bindAddress() (string, error) {
	addr := strings.TrimPrefix(t.address, transport.DNS+"://")
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port != "0" {
		return addr, err
	}
	var found []string
	for _, s := range t.conf.inst.Servers() {
		local, ok := s.LocalAddr().(*net.UDPAddr)
		if !ok {
			continue
		}
		if ip := net.ParseIP(host); host == "" && local.IP.IsUnspecified() || ip != nil && ip.Equal(local.IP) {
			found = append(found, local.String())
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("port 0 is one of %d sockets on %q: only one can be told apart", len(found), host)
	}
	return found[0], nil
}
