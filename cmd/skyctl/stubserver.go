package main

import (
	"net"
	"strconv"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

// stubServer is the server that a key below dns/stub names, as address and port.
func stubServer(k record.Key) string {
	if k.Record == nil || k.Record.Kind() != skydns.IPv4 && k.Record.Kind() != skydns.IPv6 {
		return "no address"
	}
	port := k.Record.Port()
	if port == 0 {
		port = 53
	}
	return net.JoinHostPort(k.Record.Addr().String(), strconv.Itoa(int(port)))
}
