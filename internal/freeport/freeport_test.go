package freeport

import (
	"net"
	"testing"
)

func TestNoPortIsHandedOutTwice(t *testing.T) {
	seen := make(map[string]bool)
	for range 200 {
		addr := Addr(t)
		if seen[addr] {
			t.Fatalf("%s was handed out twice", addr)
		}
		seen[addr] = true
	}
}

func TestAPortInUseIsNotFree(t *testing.T) {
	p, err := net.ListenPacket("udp", Addr(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if free(p.LocalAddr().(*net.UDPAddr).Port) {
		t.Error("a port with a UDP socket counts as free")
	}
}
