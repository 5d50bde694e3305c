//go:build linux

package fastudp

import (
	"net"
	"testing"
	"time"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"

	"github.com/miekg/dns"
)

func TestPluginsThatWriteRawOrLate(t *testing.T) {
	const address = "dns://127.0.0.1:0"
	s := start(t, address, ".:0 {\n bind 127.0.0.1\n fastudp\n echo\n}")
	f := frontOf(t, s.Addr())
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	from := mmsg.Received(nil, c.LocalAddr().(*net.UDPAddr).AddrPort())
	w := newResponse(f.current.Load(), f.lanes[0], &from.From)
	w.Hijack()
	for _, size := range []int{12, 2047, 2048, 2049, 9000} {
		raw := make([]byte, size)
		raw[size-1] = byte(size)
		if n, err := w.Write(raw); n != size || err != nil {
			t.Fatalf("Write of %d bytes: %d, %v", size, n, err)
		}
		clear(raw) // the caller may use it again at once
		got := make([]byte, 10000)
		_ = c.SetReadDeadline(time.Now().Add(patience))
		n, _, err := c.ReadFrom(got)
		if err != nil || n != size || got[size-1] != byte(size) {
			t.Errorf("of %d bytes %d arrived, the last %d (%v)", size, n, got[max(n, 1)-1], err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := w.WriteMsg(new(dns.Msg)); err == nil {
		t.Error("a reply was written after Close")
	}
	if _, err := w.Write([]byte{1}); err == nil {
		t.Error("bytes were written after Close")
	}
}
