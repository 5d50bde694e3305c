// Package embedded runs a one-node etcd inside the process, for a single machine or a trial, where nobody wants to run
// an etcd beside the DNS server. Importing it makes the etcd plugin's property embed work:
//
//	import _ "github.com/trident-dns/trident/etcd/embedded"
//
// The node serves clients on a loopback address and has no peer listener at all. Its data survive the process, however
// that ends, as those of any etcd do. It compacts its history by the hour.
//
// Linking the package adds etcd's own metrics (etcd_*) to those of the process, whether or not a server is started. A
// server that is closed while others than this process watch it takes some seconds, as long as etcd lets requests finish.
// Data that are found damaged at the start are an error in the log, and tried again; what etcd panics over later ends the
// process.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trident-dns/trident/etcd/embedhook"

	clog "github.com/coredns/coredns/plugin/pkg/log"

	"go.etcd.io/etcd/server/v3/embed"
)

var log = clog.NewWithPlugin("etcd")

func init() {
	embedhook.Register(func(cfg embedhook.Config) (embedhook.Server, error) {
		s, err := Start(cfg)
		if err != nil {
			return nil, err // and not a nil *Server in an interface
		}
		return s, nil
	})
}

// Config is that of the hook.
type Config = embedhook.Config

// DefaultClientURL is where clients connect when the configuration does not say.
const DefaultClientURL = "http://127.0.0.1:2379"

// Errors of Start.
var (
	// ErrNoDir says that Config.Dir is empty.
	ErrNoDir = errors.New("no directory for the data")
	// ErrClientURL says that Config.ClientURL is not of the form http://ADDRESS:PORT with an address of loopback.
	ErrClientURL = errors.New("not a URL of the form http://ADDRESS:PORT on loopback")
)

// Server is an embedded etcd that serves, or tries to.
type Server struct {
	cfg      Config
	endpoint url.URL
	seed     []pair

	cancel context.CancelFunc
	wg     sync.WaitGroup
	ready  chan struct{} // closed when the server has served for the first time
	err    atomic.Pointer[error]
}

// Start starts a server in the background and returns at once; the errors are those of the configuration. What keeps
// the server from serving (the port is taken, another process uses the directory) is logged, and tried again until
// Close.
func Start(cfg Config) (*Server, error) {
	if cfg.Dir == "" {
		return nil, ErrNoDir
	}
	endpoint, err := clientURL(cfg.ClientURL)
	if err != nil {
		return nil, err
	}
	var seed []pair
	if cfg.Seed != "" {
		if seed, err = readSeed(cfg.Seed); err != nil {
			return nil, err
		}
	}
	s := &Server{cfg: cfg, endpoint: endpoint, seed: seed, ready: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.wg.Go(func() { s.run(ctx) })
	return s, nil
}

// Endpoint is the URL for clients. Nothing may answer there yet.
func (s *Server) Endpoint() string { return s.endpoint.String() }

// Ready is closed once the server serves.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Err is why the server does not serve yet, nil when it does or when nothing went wrong so far.
func (s *Server) Err() error {
	if p := s.err.Load(); p != nil {
		return *p
	}
	return nil
}

// Close stops the server and waits for it. Watches of other clients can hold it up for some seconds. It always returns
// nil.
func (s *Server) Close() error {
	s.cancel()
	s.wg.Wait()
	return nil
}

// clientURL checks raw, and replaces port 0 by one that is free.
func clientURL(raw string) (url.URL, error) {
	if raw == "" {
		raw = DefaultClientURL
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return url.URL{}, fmt.Errorf("%w: %q", ErrClientURL, raw)
	}
	host := u.Hostname()
	if host == "localhost" {
		host = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.IsLoopback() || u.Port() == "" {
		return url.URL{}, fmt.Errorf("%w: %q", ErrClientURL, raw)
	}
	port := u.Port()
	if port == "0" {
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			return url.URL{}, fmt.Errorf("looking for a free port: %w", err)
		}
		_, port, _ = net.SplitHostPort(l.Addr().String()) // an address of the system's own making
		if err := l.Close(); err != nil {
			return url.URL{}, fmt.Errorf("looking for a free port: %w", err)
		}
	}
	return url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}, nil
}

// retry is the wait between attempts to start: short enough for whoever frees the port to see the server come, long
// enough not to burden a machine on which it never will.
const retry = time.Second

// run keeps a server running until ctx ends.
func (s *Server) run(ctx context.Context) {
	served := false
	for said := ""; ; {
		err := s.attempt(ctx, &served)
		if ctx.Err() != nil {
			return
		}
		s.err.Store(&err)
		if err.Error() != said {
			said = err.Error()
			log.Errorf("Embedded etcd in %s does not serve, trying on: %v", s.cfg.Dir, err)
		}
		timer := time.NewTimer(retry)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// ErrGaveUp says that etcd ended by itself, for a reason that is in the log.
var ErrGaveUp = errors.New("etcd gave up, the log says why")

// attempt is serve in a goroutine of its own, which a fatal error of etcd ends.
func (s *Server) attempt(ctx context.Context, served *bool) error {
	err := ErrGaveUp
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = s.serve(ctx, served)
	}()
	<-done
	return err
}

// startEtcd is embed.StartEtcd, without the panics of the goroutine that it is called from. What it has opened by then
// stays open, and keeps later attempts from it.
func startEtcd(cfg *embed.Config) (e *embed.Etcd, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	return embed.StartEtcd(cfg)
}

// serve runs one server from its start to its end, which is that of ctx or an error.
func (s *Server) serve(ctx context.Context, served *bool) error {
	if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
		return err
	}
	// etcd itself waits without end for a directory that another process uses.
	unlock, err := lockDir(s.cfg.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := checkData(s.cfg.Dir); err != nil {
		return err
	}
	e, err := startEtcd(s.etcdConfig(ctx))
	if err != nil {
		return err
	}
	defer e.Close()
	select {
	case <-e.Server.ReadyNotify():
	case err := <-e.Err():
		return err
	case <-e.Server.StopNotify():
		return ErrGaveUp
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := sow(ctx, e.Server, s.seed); err != nil {
		log.Errorf("Embedded etcd cannot write its seed %s: %v", s.cfg.Seed, err)
	}
	s.err.Store(nil)
	if !*served {
		*served = true
		close(s.ready)
	}
	log.Infof("Embedded etcd in %s serves %s", s.cfg.Dir, s.Endpoint())
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-e.Err():
		return err
	case <-e.Server.StopNotify():
		return ErrGaveUp
	}
}
