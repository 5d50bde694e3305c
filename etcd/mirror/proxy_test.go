package mirror

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// grpcProxy starts etcd's own gRPC proxy in front of e and returns its URL.
func grpcProxy(t *testing.T, e *etcdtest.Etcd) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	client := e.Client()
	kv, _ := grpcproxy.NewKvProxy(client)
	watch, watchDone := grpcproxy.NewWatchProxy(ctx, zap.NewNop(), client)
	server := grpc.NewServer()
	pb.RegisterKVServer(server, kv)
	pb.RegisterWatchServer(server, watch)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // ends with Stop
	}()
	t.Cleanup(func() {
		server.Stop()
		<-served
		cancel()
		client.Close()
		<-watchDone
	})
	return "http://" + l.Addr().String()
}

// The proxy never answers about progress. That must not be taken for silence, time and again.
func TestGRPCProxyThatIsMuteAboutProgressIsNotTakenForDead(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	timing := testTiming()
	timing.Progress = 50 * time.Millisecond
	timing.Silence = 100 * time.Millisecond
	s := newCopySink()
	m := open(t, Config{Endpoints: []string{grpcProxy(t, e)}, Timing: timing})
	f := m.Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")
	first := f.Status().Contact
	eventually(t, "confirmed for several times the silence", func() bool {
		if st := f.Status(); st.Err != nil {
			t.Fatalf("the watch ended: %v", st.Err)
		}
		return f.Status().Contact.Sub(first) > 10*timing.Silence
	})
	e.Put("/s/2", "1")
	s.equals(t, e, "/s/")
	if m.conn.answers.Load() {
		t.Error("the proxy answers about progress now: it needs no consideration any more")
	}
}

// The proxy joins watches of the same range that come at the same time. Of all but the first it says itself that they were
// created, and cannot say by which cluster.
func TestWatchesThatAGRPCProxyJoinsDoNotListAgain(t *testing.T) {
	e := etcdtest.Start(t, etcdtest.MaxTxnOps(2000))
	// Feeds begin with the last revision. Its many keys keep the proxy waiting, and the watches that come meanwhile join.
	var puts []clientv3.Op
	for i := range 2000 {
		puts = append(puts, clientv3.OpPut(fmt.Sprintf("/s/%04d", i), "1"))
	}
	if _, err := e.Client().Txn(t.Context()).Then(puts...).Commit(); err != nil {
		t.Fatal(err)
	}
	timing := testTiming()
	timing.Call, timing.Silence = 10*time.Second, 10*time.Second
	why := make(relists, 1000)
	proxy := grpcProxy(t, e)
	var sinks []*copySink
	for range 50 {
		s := newCopySink()
		sinks = append(sinks, s)
		open(t, Config{Endpoints: []string{proxy}, Timing: timing, OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	}
	for _, s := range sinks {
		s.equals(t, e, "/s/")
	}
	e.Put("/s/0000", "2")
	for _, s := range sinks {
		s.equals(t, e, "/s/")
	}
	if len(why) != 0 {
		t.Errorf("a feed listed again: %v", <-why)
	}
}
