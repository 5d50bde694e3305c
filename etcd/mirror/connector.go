package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// connector makes the client that the feeds share, when one first asks for it, and again after one was dropped.
type connector struct {
	cfg Config
	// answers is set once etcd has answered a question about progress. Streams that do not are dead from then on.
	answers atomic.Bool
	// handshake is why the last one of TLS failed, nil when it did not. A login that waits for a connection does not tell.
	handshake atomic.Pointer[error]

	// sem guards the following. It is a channel and not a mutex because making a client logs in, which takes as long as
	// etcd likes: whoever waits meanwhile must be able to give up.
	sem       chan struct{}
	client    *clientv3.Client
	endpoints []string // Config.Endpoints and the members that were found
}

func newConnector(cfg Config) *connector {
	return &connector{cfg: cfg, sem: make(chan struct{}, 1), endpoints: slices.Clone(cfg.Endpoints)}
}

func (c *connector) lock(ctx context.Context) error {
	select {
	case c.sem <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *connector) unlock() { <-c.sem }

// get returns the client, making one when there is none. ctx bounds that.
func (c *connector) get(ctx context.Context) (*clientv3.Client, error) {
	if err := c.lock(ctx); err != nil {
		return nil, err
	}
	defer c.unlock()
	if c.client != nil {
		return c.client, nil
	}
	client, err := c.dial(ctx)
	if why := c.handshake.Load(); err != nil && why != nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w: %w: %w", errNoClient, err, *why)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoClient, err)
	}
	c.client = client
	return client, nil
}

func (c *connector) dial(ctx context.Context) (*clientv3.Client, error) {
	var login Login
	if c.cfg.Login != nil {
		var err error
		if login, err = c.cfg.Login(); err != nil {
			return nil, err
		}
	}
	// The login happens inside New, which passes on only Config.Context. A context that ends with the attempt would end
	// the client as well, so that the two are joined for as long as New runs.
	base, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   c.endpoints,
		Username:    login.Username,
		Password:    login.Password,
		Context:     base,
		DialTimeout: c.cfg.Timing.Call,
		// gRPC raises anything shorter than 10 s to that, and etcd hangs up on clients that ping more often than every 5 s.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		Logger:               zap.NewNop(),
		DialOptions:          c.dialOptions(),
	})
	if !stop() && err == nil {
		client.Close()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return client, nil
}

func (c *connector) dialOptions() []grpc.DialOption {
	opts := []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
		// By itself gRPC waits for up to two minutes between attempts, and 20 s for a host that does not answer.
		Backoff: grpcbackoff.Config{
			BaseDelay:  c.cfg.Timing.BackoffMin,
			Multiplier: 1.6,
			Jitter:     0.2,
			MaxDelay:   c.cfg.Timing.BackoffMax,
		},
		MinConnectTimeout: c.cfg.Timing.Call,
	})}
	if c.cfg.TLS != nil {
		opts = append(opts, grpc.WithTransportCredentials(newFreshTLS(c.cfg.TLS, &c.handshake)))
	}
	return opts
}

// drop gives up a client, so that the next one logs in and connects anew. Feeds that use it notice by their calls
// failing.
func (c *connector) drop(client *clientv3.Client) {
	_ = c.lock(context.Background()) // which has no end
	defer c.unlock()
	if c.client == client {
		c.client = nil
		client.Close()
	}
}

// close ends the client. No get may follow.
func (c *connector) close() {
	_ = c.lock(context.Background()) // which has no end
	defer c.unlock()
	if c.client != nil {
		c.client.Close()
		c.client = nil
	}
}

// explain adds to a time-out why there is no connection, if that is so. Calls wait for one until their time is up, and
// then know nothing better to say.
func (c *connector) explain(ctx context.Context, client *clientv3.Client, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timing.Call/5) // as long as an attempt to connect takes
	defer cancel()
	_, why := pb.NewMaintenanceClient(client.ActiveConnection()).
		Status(ctx, &pb.StatusRequest{}, grpc.WaitForReady(false))
	if status.Code(why) != codes.Unavailable {
		return err
	}
	return fmt.Errorf("%w: %s", err, status.Convert(why).Message())
}
