// Package etcdtest runs real etcd servers inside a test: one node or a cluster, with a bridge in front of each through
// which the network can fail, and with the means to stop, restart, restore and compact.
//
// Data are written without fsync: they survive Stop and Restart, not the machine.
package etcdtest

import (
	"context"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/freeport"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// Wait bounds everything that a test waits for.
const Wait = 30 * time.Second

// Option changes the configuration of a server before each start.
type Option func(*embed.Config)

// TokenTTL sets how long a simple token lives, in whole seconds.
func TokenTTL(seconds uint) Option { return func(c *embed.Config) { c.AuthTokenTTL = seconds } }

// MaxTxnOps raises the number of operations that a transaction may have.
func MaxTxnOps(n uint) Option { return func(c *embed.Config) { c.MaxTxnOps = n } }

// Etcd is one server.
type Etcd struct {
	t      testing.TB
	name   string
	dir    string
	addr   string // for clients
	peer   string // for other members
	bridge *Bridge
	opts   []Option

	mu      sync.Mutex // guards the following
	server  *embed.Etcd
	clients []*clientv3.Client
}

// Start starts a single node with an empty store, which ends with the test.
func Start(t testing.TB, opts ...Option) *Etcd {
	t.Helper()
	e := newEtcd(t, "one", opts)
	e.opts = append(e.opts, func(c *embed.Config) { c.InitialCluster = c.InitialClusterFromName(e.name) })
	e.Restart()
	return e
}

func newEtcd(t testing.TB, name string, opts []Option) *Etcd {
	e := &Etcd{
		t: t, name: name, opts: opts,
		dir:  filepath.Join(t.TempDir(), name),
		addr: freeport.Addr(t),
		peer: freeport.Addr(t),
	}
	e.bridge = NewBridge(t, e.addr)
	t.Cleanup(e.Stop)
	return e
}

// Endpoint is the URL of the bridge in front of the server.
func (e *Etcd) Endpoint() string { return "http://" + e.bridge.Addr() }

// Direct is the URL of the server itself, around the bridge.
func (e *Etcd) Direct() string { return "http://" + e.addr }

// Bridge is what Endpoint goes through.
func (e *Etcd) Bridge() *Bridge { return e.bridge }

// Client returns a client that goes around the bridge. It ends with the server.
func (e *Etcd) Client() *clientv3.Client {
	e.t.Helper()
	return e.login("", "")
}

func (e *Etcd) login(user, password string) *clientv3.Client {
	e.t.Helper()
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{e.Direct()}, Username: user, Password: password,
		DialTimeout: Wait, Logger: zap.NewNop(),
		MaxCallSendMsgSize: math.MaxInt32,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clients = append(e.clients, c)
	return c
}

// Restart starts the server, which must be stopped, on its data, and waits until it serves.
func (e *Etcd) Restart() {
	e.t.Helper()
	if err := e.start(); err != nil {
		e.t.Fatalf("starting etcd: %v", err)
	}
	e.ready()
}

func (e *Etcd) start() error {
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = e.name, e.dir
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = urls(e.addr), urls(e.bridge.Addr())
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = urls(e.peer), urls(e.peer)
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync = true
	cfg.BcryptCost = 4                     // the least: logins are not what is tested
	cfg.TickMs, cfg.ElectionMs = 20, 200   // elections in a fraction of a second
	cfg.EnableGRPCGateway = false          // nobody asks it
	cfg.MaxConcurrentStreams = 1 << 20     // of one client
	cfg.GRPCKeepAliveMinTime = time.Second // as often as a test likes
	cfg.AutoCompactionRetention = "0"      // tests compact themselves
	cfg.QuotaBackendBytes = 8 << 30        // never reached
	for _, opt := range e.opts {
		opt(cfg)
	}
	s, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.server = s
	return nil
}

func (e *Etcd) ready() {
	e.t.Helper()
	e.mu.Lock()
	s := e.server
	e.mu.Unlock()
	select {
	case <-s.Server.ReadyNotify():
	case <-time.After(Wait):
		e.t.Fatal("etcd does not become ready")
	}
}

// Stop ends the server, and closes the clients that Client gave out. Its data stay. It does nothing when the server is
// stopped already.
func (e *Etcd) Stop() {
	e.mu.Lock()
	s, clients := e.server, e.clients
	e.server, e.clients = nil, nil
	e.mu.Unlock()
	for _, c := range clients {
		_ = c.Close() // reports the cancellation of its own context
	}
	if s == nil {
		return
	}
	// A graceful end waits for open watches, which do not end by themselves.
	e.bridge.Drop()
	s.Close()
}

// Wipe removes the data of a stopped server: the next start is that of a brand new one.
func (e *Etcd) Wipe() {
	e.t.Helper()
	if err := os.RemoveAll(e.dir); err != nil {
		e.t.Fatal(err)
	}
}

// Put writes one key and returns the revision.
func (e *Etcd) Put(key, value string, opts ...clientv3.OpOption) int64 {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Wait)
	defer cancel()
	resp, err := e.shared().Put(ctx, key, value, opts...)
	if err != nil {
		e.t.Fatalf("put %s: %v", key, err)
	}
	return resp.Header.Revision
}

// Delete deletes one key and returns the revision.
func (e *Etcd) Delete(key string, opts ...clientv3.OpOption) int64 {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Wait)
	defer cancel()
	resp, err := e.shared().Delete(ctx, key, opts...)
	if err != nil {
		e.t.Fatalf("delete %s: %v", key, err)
	}
	return resp.Header.Revision
}

// Compact discards everything before revision.
func (e *Etcd) Compact(revision int64) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Wait)
	defer cancel()
	if _, err := e.shared().Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		e.t.Fatalf("compact at %d: %v", revision, err)
	}
}

// Dump returns every key of the prefix, and the revision that this is the state of.
func (e *Etcd) Dump(prefix string) (map[string]string, int64) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Wait)
	defer cancel()
	resp, err := e.shared().Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		e.t.Fatalf("get %s: %v", prefix, err)
	}
	all := make(map[string]string, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		all[string(kv.Key)] = string(kv.Value)
	}
	return all, resp.Header.Revision
}

// shared returns the first client, which Put and its like use.
func (e *Etcd) shared() *clientv3.Client {
	e.t.Helper()
	e.mu.Lock()
	if len(e.clients) > 0 {
		defer e.mu.Unlock()
		return e.clients[0]
	}
	e.mu.Unlock()
	return e.Client()
}

func urls(addr string) []url.URL { return []url.URL{{Scheme: "http", Host: addr}} }
