package mirror

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// syncMembers adds members of the cluster to the endpoints, now and then, until ctx ends.
func (c *connector) syncMembers(ctx context.Context) {
	if c.cfg.AutoSync <= 0 {
		return
	}
	tick := time.NewTicker(c.cfg.AutoSync)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.syncOnce(ctx)
		}
	}
}

// syncOnce leaves the endpoints alone when it fails: the feeds report an etcd that is away.
func (c *connector) syncOnce(ctx context.Context) {
	client, err := c.get(ctx)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timing.Call)
	defer cancel()
	resp, err := client.MemberList(ctx)
	if err != nil {
		return
	}
	if c.lock(ctx) != nil {
		return
	}
	defer c.unlock()
	if all := joinEndpoints(c.cfg.Endpoints, resp.Members); !slices.Equal(all, c.endpoints) {
		c.endpoints = all
		if c.client == client { // else it was dropped meanwhile, and the next one begins with all
			client.SetEndpoints(all...)
		}
	}
}

// joinEndpoints appends to the configured endpoints what members advertise. It leaves out what could lead to another
// etcd than the configured one: addresses of another scheme, and, unless the configuration names one as well, loopback
// and unspecified addresses, which many clusters advertise by mistake.
func joinEndpoints(configured []string, members []*pb.Member) []string {
	all := slices.Clone(configured)
	local := slices.ContainsFunc(configured, isLocal)
	for _, m := range members {
		if m.IsLearner {
			continue
		}
		for _, u := range m.ClientURLs {
			if isSecure(u) == isSecure(configured[0]) && (local || !isLocal(u)) && !slices.Contains(all, u) {
				all = append(all, u)
			}
		}
	}
	// The order of members differs between answers, and must not look like a change.
	slices.Sort(all[len(configured):])
	return all
}

// isLocal tells whether an endpoint means a different machine to each that uses it.
func isLocal(endpoint string) bool {
	host := endpoint
	if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
		host = u.Host
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "localhost" || host == "" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}
