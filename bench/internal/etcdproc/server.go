package etcdproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/trident-dns/trident/bench/internal/rig"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// Server is a running etcd of one member, or a proxy in front of one.
type Server struct {
	*rig.Process
	Endpoint string // for clients
}

// Start starts an etcd with an empty store in dir.
func Start(core, dir string) (*Server, error) { return startServer(core, "etcd", dir) }

// StartProxy starts etcd's gRPC proxy in front of an etcd.
func StartProxy(core, endpoint string) (*Server, error) { return startServer(core, "proxy", endpoint) }

func startServer(core, helper, argument string) (*Server, error) {
	addr, _, err := rig.FreePort()
	if err != nil {
		return nil, err
	}
	t, _, err := startHelper(core, helper, addr, argument)
	if err != nil {
		return nil, err
	}
	return &Server{Process: t.Process, Endpoint: "http://" + addr}, nil
}

// Metrics of etcd.
const (
	// Ranges counts the reads that it served.
	Ranges = "etcd_mvcc_range_total"
	// SentBytes counts what it sent to clients.
	SentBytes = "etcd_network_client_grpc_sent_bytes_total"
)

// Metric reads one of its metrics.
func (s *Server) Metric(name string) (float64, error) {
	client := &http.Client{Timeout: 10 * time.Second}
	resp, err := client.Get(s.Endpoint + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	return parseMetric(string(text), name)
}

// serveEtcd is the helper: ADDRESS DIR.
func serveEtcd(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("needs an address and a directory")
	}
	addr, dir := args[0], args[1]
	_, peerPort, err := rig.FreePort()
	if err != nil {
		return err
	}
	client, peer := url.URL{Scheme: "http", Host: addr}, url.URL{Scheme: "http", Host: "127.0.0.1:" + peerPort}
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = "bench", dir
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.MaxTxnOps = seedOps
	cfg.EnableGRPCGateway = false
	cfg.QuotaBackendBytes = 8 << 30
	cfg.UnsafeNoFsync = true // the disk is not what is measured
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	select {
	case <-e.Server.ReadyNotify():
		fmt.Println(ready)
	case err := <-e.Err():
		return err
	}
	<-ctx.Done()
	return nil // the process ends, and its data are of no more use
}
