package etcdtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.uber.org/goleak"
)

// Leaks are goroutines that a cluster leaves behind for some seconds: members keep idle HTTP connections to one another.
// A package whose tests start clusters passes them to goleak.
func Leaks() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreAnyFunction("net/http.(*conn).serve"),
		goleak.IgnoreAnyFunction("net/http.(*connReader).backgroundRead"),
	}
}

// Cluster is several servers that form one etcd.
type Cluster struct {
	Members []*Etcd
}

// StartCluster starts a cluster of n members, which ends with the test.
func StartCluster(t testing.TB, n int, opts ...Option) *Cluster {
	t.Helper()
	c := &Cluster{}
	var initial []string
	for i := range n {
		m := newEtcd(t, fmt.Sprintf("m%d", i), opts)
		c.Members = append(c.Members, m)
		initial = append(initial, fmt.Sprintf("%s=http://%s", m.name, m.peer))
	}
	for _, m := range c.Members {
		m.opts = append(m.opts[:len(m.opts):len(m.opts)], func(cfg *embed.Config) {
			cfg.InitialCluster = strings.Join(initial, ",")
		})
	}
	c.Restart()
	return c
}

// Restart starts all members that are stopped, and waits until they serve.
func (c *Cluster) Restart() {
	var wg sync.WaitGroup
	errs := make([]error, len(c.Members))
	for i, m := range c.Members {
		if m.running() {
			continue
		}
		wg.Go(func() { errs[i] = m.start() })
	}
	wg.Wait()
	for i, m := range c.Members {
		m.t.Helper()
		if errs[i] != nil {
			m.t.Fatalf("starting member %s: %v", m.name, errs[i])
		}
		m.ready()
	}
}

// Endpoints are those of the members, through their bridges.
func (c *Cluster) Endpoints() []string {
	var all []string
	for _, m := range c.Members {
		all = append(all, m.Endpoint())
	}
	return all
}

// Leader returns the index of the member that leads, -1 when none does.
func (c *Cluster) Leader() int {
	for i, m := range c.Members {
		m.mu.Lock()
		s := m.server
		m.mu.Unlock()
		if s != nil && s.Server.Leader() == s.Server.MemberID() {
			return i
		}
	}
	return -1
}

// Isolate cuts member i off from the others. Clients still reach it.
func (c *Cluster) Isolate(i int) { c.link(i, (*etcdserver.EtcdServer).CutPeer) }

// Rejoin ends Isolate.
func (c *Cluster) Rejoin(i int) { c.link(i, (*etcdserver.EtcdServer).MendPeer) }

// link changes the way from member i to each other, and back.
func (c *Cluster) link(i int, change func(*etcdserver.EtcdServer, types.ID)) {
	one := c.Members[i].server.Server
	for j, m := range c.Members {
		if j != i {
			change(one, m.server.Server.MemberID())
			change(m.server.Server, one.MemberID())
		}
	}
}

func (e *Etcd) running() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.server != nil
}
