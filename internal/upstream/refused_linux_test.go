package upstream

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"golang.org/x/sys/unix"
)

// closedPort is a UDP port of 127.0.0.1 on which nobody listens, and nobody will as long as the test runs: a socket is
// bound to it that is connected to somebody else.
func closedPort(t *testing.T, address string) netip.AddrPort {
	t.Helper()
	local := &net.UDPAddr{IP: net.ParseIP(address)}
	conn, err := net.DialUDP("udp", local, &net.UDPAddr{IP: local.IP, Port: 9})
	if err != nil {
		t.Skipf("no %s here: %v", address, err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

func TestPortOnWhichNobodySpeaksQUICIsRefusedAtOnce(t *testing.T) {
	up := dnstest.NewQUIC(t, dnstest.Drop) // for its certificate
	for _, address := range []string{"127.0.0.1", "::1"} {
		for _, transport := range []Transport{QUIC, HTTPS3} {
			r, err := Open(Config{Name: "test", Transport: transport, Addr: closedPort(t, address), TLS: up.ClientTLS()})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			refuse(t, r, Question{Msg: question("example.org.")}, 5*time.Second, ErrRefused)
			// Nothing waits that long but the time-out of dialing.
			if took := time.Since(start); took >= dialTimeout {
				t.Errorf("%s over %s took %v", address, transport, took)
			}
			r.Close()
		}
	}
}

func TestRoutersCannotEndAQUICConnection(t *testing.T) {
	up := dnstest.NewQUIC(t, dnstest.A("192.0.2.1"))
	r := open(t, up, overSession(up, QUIC))
	ask(t, r, "udp", "example.org.")
	conns := r.streams.(*pool[*sessionConn]).conns
	raw, err := conns[0].session.(*doqSession).socket.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		if on, err := unix.GetsockoptInt(int(fd), unix.SOL_IP, unix.IP_RECVERR); err != nil || on != 0 {
			t.Errorf("IP_RECVERR is %d (%v) on an established connection", on, err)
		}
	})
}
