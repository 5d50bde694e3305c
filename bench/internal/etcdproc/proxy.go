package etcdproc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// serveProxy is the helper: ADDRESS ENDPOINT. It is what the command "etcd grpc-proxy start" runs, without options.
func serveProxy(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("needs an address and an endpoint")
	}
	client, err := Client(args[1])
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	logger := zap.NewNop()
	kv, _ := grpcproxy.NewKvProxy(client)
	watch, _ := grpcproxy.NewWatchProxy(ctx, logger, client)
	cluster, _ := grpcproxy.NewClusterProxy(logger, client, "", "")
	lease, _ := grpcproxy.NewLeaseProxy(ctx, client)
	s := grpc.NewServer(grpc.MaxConcurrentStreams(math.MaxUint32))
	pb.RegisterKVServer(s, kv)
	pb.RegisterWatchServer(s, watch)
	pb.RegisterClusterServer(s, cluster)
	pb.RegisterLeaseServer(s, lease)
	pb.RegisterMaintenanceServer(s, grpcproxy.NewMaintenanceProxy(client))
	pb.RegisterAuthServer(s, grpcproxy.NewAuthProxy(client))
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(listener) }()
	fmt.Println(ready)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil // the process ends
	}
}
