package embedded

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/embed"
)

const (
	// memberName and peerURL are part of the identity that is written into the data when they are new. Nothing listens
	// at the URL.
	memberName = "trident"
	peerURL    = "http://127.0.0.1:2380"

	// maxTxnOps lets a seed, or a bulk import, be one transaction.
	maxTxnOps = 10_000

	// lockName is the file in Dir whose lock tells that a process uses the directory. The system lets go of it when the
	// process ends, however it does.
	lockName = "trident.lock"
)

func (s *Server) etcdConfig(ctx context.Context) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name = memberName
	cfg.Dir = s.cfg.Dir
	cfg.ListenClientUrls = []url.URL{s.endpoint}
	cfg.AdvertiseClientUrls = []url.URL{s.endpoint}
	// A single node has nobody to listen to.
	cfg.ListenPeerUrls = nil
	peer, _ := url.Parse(peerURL) // a constant
	cfg.AdvertisePeerUrls = []url.URL{*peer}
	cfg.InitialCluster = memberName + "=" + peerURL
	cfg.MaxTxnOps = maxTxnOps
	cfg.EnableGRPCGateway = false
	cfg.AutoCompactionMode = embed.CompactorModePeriodic
	cfg.AutoCompactionRetention = "1h"
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newLogger(func() bool { return ctx.Err() != nil }))
	return cfg
}

// ErrInUse says that another process, or another server of this one, uses the directory.
var ErrInUse = errors.New("the directory is in use")

func lockDir(dir string) (unlock func(), err error) {
	f, err := fileutil.TryLockFile(filepath.Join(dir, lockName), os.O_WRONLY|os.O_CREATE, fileutil.PrivateFileMode)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("%w: %s", ErrInUse, dir)
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil // which unlocks
}
