// Package freeport finds ports of loopback for servers in tests that must know their port before they start.
package freeport

import (
	"net"
	"testing"
)

// Addr returns an address of 127.0.0.1 whose port was free for UDP and TCP a moment ago.
func Addr(t testing.TB) string {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		p, err := net.ListenPacket("udp", addr)
		_ = l.Close()
		if err == nil {
			_ = p.Close()
			return addr
		}
	}
	t.Fatal("no port of loopback is free for UDP and TCP")
	return ""
}

// Port is the port of an address that Addr would return.
func Port(t testing.TB) string {
	t.Helper()
	_, port, _ := net.SplitHostPort(Addr(t)) // an address that we made
	return port
}
