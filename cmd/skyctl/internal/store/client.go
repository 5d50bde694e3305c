package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Config is how to reach etcd.
type Config struct {
	Endpoints        []string
	User, Password   string
	Token            string // JWT, instead of user and password
	TLS              *tls.Config
	DialTimeout      time.Duration
	KeepAlive        time.Duration
	KeepAliveTimeout time.Duration
	// Call bounds each request, not the whole of a command that needs many.
	Call time.Duration
}

// Client is a connection to etcd. Its methods may be called from any goroutine. Close ends it.
type Client struct {
	etcd *clientv3.Client
	cfg  Config
}

// Open makes a client. It does not wait for etcd, but for a login.
func Open(ctx context.Context, cfg Config) (*Client, error) {
	c, err := clientv3.New(clientv3.Config{
		Context: context.WithoutCancel(ctx), Endpoints: cfg.Endpoints, Username: cfg.User, Password: cfg.Password, Token: cfg.Token,
		TLS: cfg.TLS, DialTimeout: cfg.DialTimeout,
		DialKeepAliveTime: cfg.KeepAlive, DialKeepAliveTimeout: cfg.KeepAliveTimeout,
		MaxCallRecvMsgSize: math.MaxInt32, Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("connecting to etcd at %s: %w", strings.Join(cfg.Endpoints, ", "), hint(cfg, err))
	}
	return &Client{etcd: c, cfg: cfg}, nil
}

// Close ends the client.
func (c *Client) Close() { _ = c.etcd.Close() } // reports the cancellation of its own context

// Endpoints are those that the client was made with.
func (c *Client) Endpoints() []string { return c.cfg.Endpoints }

// call bounds one request.
func (c *Client) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.cfg.Call)
}

// explain says what a person can do about a failed request to etcd.
func (c *Client) explain(ctx context.Context, doing string, err error) error {
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = c.whyLate(err)
	}
	return fmt.Errorf("%s: %w", doing, hint(c.cfg, err))
}

// whyLate adds why there is no connection, if that is so: a request waits for one until its time is up, and then knows
// nothing better to say.
func (c *Client) whyLate(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.DialTimeout)
	defer cancel()
	_, why := pb.NewMaintenanceClient(c.etcd.ActiveConnection()).
		Status(ctx, &pb.StatusRequest{}, grpc.WaitForReady(false))
	if status.Code(why) == codes.Unavailable {
		err = fmt.Errorf("%w: %s", err, status.Convert(why).Message())
	}
	return fmt.Errorf("etcd at %s did not answer within %v: %w", strings.Join(c.cfg.Endpoints, ", "), c.cfg.Call, err)
}

func hint(cfg Config, err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return fmt.Errorf("%w (etcd wants a login: --user NAME, with the password in ETCDCTL_PASSWORD or --password)", err)
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("%w (the role of user %q does not cover these keys)", err, cfg.User)
	case errors.Is(err, rpctypes.ErrNoSpace):
		return fmt.Errorf("%w (etcd is over its quota: compact, defragment, then `etcdctl alarm disarm`)", err)
	}
	return err
}
