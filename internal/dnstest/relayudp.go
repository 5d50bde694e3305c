package dnstest

import (
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// UDPRelay is a [Relay] for datagrams.
type UDPRelay struct {
	socket  *net.UDPConn
	target  netip.AddrPort
	running sync.WaitGroup

	mu    sync.Mutex // guards the following
	flows map[netip.AddrPort]*flow
}

// flow is what comes from one address and port of a client.
type flow struct {
	server *net.UDPConn
	lost   bool
}

// NewUDPRelay starts a relay to target. It ends with the test.
func NewUDPRelay(t testing.TB, target netip.AddrPort) *UDPRelay {
	t.Helper()
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	r := &UDPRelay{socket: socket, target: target, flows: make(map[netip.AddrPort]*flow)}
	r.running.Go(r.forward)
	t.Cleanup(r.stop)
	return r
}

// Addr is where the relay listens.
func (r *UDPRelay) Addr() netip.AddrPort { return r.socket.LocalAddr().(*net.UDPAddr).AddrPort() }

// Flows is how many addresses and ports have sent something.
func (r *UDPRelay) Flows() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.flows)
}

// Lose drops all that comes from, or is for, addresses and ports that have sent something. New ones work.
func (r *UDPRelay) Lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.flows {
		f.lost = true
	}
}

func (r *UDPRelay) forward() {
	buf := make([]byte, dns.MaxMsgSize)
	for {
		n, client, err := r.socket.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if f := r.flow(client); f != nil && !r.isLost(f) {
			f.server.Write(buf[:n])
		}
	}
}

// flow returns the flow of a client, and starts it when it is new.
func (r *UDPRelay) flow(client netip.AddrPort) *flow {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.flows[client]; f != nil {
		return f
	}
	server, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.target))
	if err != nil {
		return nil
	}
	f := &flow{server: server}
	r.flows[client] = f
	r.running.Go(func() {
		buf := make([]byte, dns.MaxMsgSize)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			if !r.isLost(f) {
				r.socket.WriteToUDPAddrPort(buf[:n], client)
			}
		}
	})
	return f
}

func (r *UDPRelay) isLost(f *flow) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return f.lost
}

func (r *UDPRelay) stop() {
	r.socket.Close()
	r.mu.Lock()
	for _, f := range r.flows {
		f.server.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
}
