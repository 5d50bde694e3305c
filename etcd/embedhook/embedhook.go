// Package embedhook lets the etcd plugin start an etcd inside the process without linking one. A build that wants it
// imports github.com/trident-dns/trident/etcd/embedded, which registers itself here.
package embedhook

import (
	"errors"
	"sync/atomic"
)

// Import is the package that brings the embedded etcd.
const Import = "github.com/trident-dns/trident/etcd/embedded"

// ErrMissing says that this build has no embedded etcd.
var ErrMissing = errors.New("this build has no embedded etcd: import _ \"" + Import + "\"")

// Config of an embedded etcd.
type Config struct {
	// Dir keeps the data. It is created when it does not exist.
	Dir string
	// ClientURL is where clients connect, on a loopback address. Port 0 chooses a free one. Empty:
	// http://127.0.0.1:2379.
	ClientURL string
	// Seed is a file whose lines "KEY VALUE" are written when the store is brand new. Empty: nothing is written.
	Seed string
}

// Server is a running, or starting, embedded etcd.
type Server interface {
	// Endpoint is the URL for clients.
	Endpoint() string
	// Close stops the server and waits for it. Its data stay.
	Close() error
}

var starter atomic.Pointer[func(Config) (Server, error)]

// Register sets how to start a server. Package embedded does so when it is linked.
func Register(start func(Config) (Server, error)) { starter.Store(&start) }

// Available tells whether this build can start a server, so that a Corefile can be refused when it is parsed.
func Available() bool { return starter.Load() != nil }

// Start starts a server, or returns ErrMissing. It does not wait until the server answers.
func Start(cfg Config) (Server, error) {
	start := starter.Load()
	if start == nil {
		return nil, ErrMissing
	}
	return (*start)(cfg)
}
