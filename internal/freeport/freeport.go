// Package freeport finds ports of loopback for servers in tests and benchmarks that must know their port before they
// start.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// The ports that are handed out: below those that Linux gives to connections by itself (32768 and up), so that none is
// taken by a connection between the look and the server's start.
const first, last = 20000, 32000

var (
	mu   sync.Mutex
	used = make(map[int]bool) // by this process, which may ask for several before it starts a server
)

// Addr returns an address of 127.0.0.1 whose port was free for UDP and TCP a moment ago. It returns none twice.
func Addr(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", Port(t))
}

// Port is the port of an address that Addr would return.
func Port(t testing.TB) string {
	t.Helper()
	port, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// ErrNone says that no port of loopback is free for UDP and TCP.
var ErrNone = errors.New("no port of loopback is free for UDP and TCP")

// Find is Port for programs that are no tests. Its error is ErrNone.
func Find() (string, error) {
	mu.Lock()
	defer mu.Unlock()
	for range 1000 {
		port := first + rand.IntN(last-first)
		if !used[port] && free(port) {
			used[port] = true
			return strconv.Itoa(port), nil
		}
	}
	return "", ErrNone
}

func free(port int) bool {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return false
	}
	defer func() { _ = l.Close() }() // of loopback, and nobody has seen it
	p, err := net.ListenPacket("udp", addr)
	if err != nil {
		return false
	}
	return p.Close() == nil
}
