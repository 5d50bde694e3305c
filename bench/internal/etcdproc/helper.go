// Package etcdproc runs an etcd, etcd's gRPC proxy, and programs that read from etcd as processes of their own, pinned to
// a core, so that their CPU time and memory are theirs alone. They are the benchmark itself, started again with other
// arguments: a program that uses this package calls Main first.
package etcdproc

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/trident-dns/trident/bench/internal/rig"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// ready is what a helper prints when it has done what it was started for, or is ready to.
const ready = "ready"

// prefix marks the names of helpers among the arguments of a program.
const prefix = "helper-"

var helpers = map[string]func(ctx context.Context, args []string) error{
	prefix + "etcd":    serveEtcd,
	prefix + "proxy":   serveProxy,
	prefix + "read":    readPages,
	prefix + "mirrors": openMirrors,
}

// Main runs the helper that the arguments of the process ask for, until it is interrupted, and ends the process. It
// returns if they ask for none.
func Main() {
	if len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], prefix) {
		return
	}
	log.SetFlags(0)
	helper, ok := helpers[os.Args[1]]
	if !ok {
		log.Fatalf("no helper %q", os.Args[1])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := helper(ctx, os.Args[2:])
	stop()
	if err != nil {
		log.Fatalf("%s: %v", os.Args[1], err)
	}
	os.Exit(0)
}

// Patience bounds how long a helper may take to get ready; most of it is for reading a million keys on a busy machine.
const Patience = 3 * time.Minute

// startHelper starts a helper on a core and waits until it is ready. rest is what it printed after that word.
func startHelper(core, name string, args ...string) (t *rig.Talker, rest string, err error) {
	t, err = rig.Self(core, append([]string{prefix + name}, args...)...)
	if err != nil {
		return nil, "", err
	}
	line, err := t.Line(Patience)
	rest, ok := strings.CutPrefix(line, ready)
	if err == nil && !ok {
		err = fmt.Errorf("it printed %q", line)
	}
	if err != nil {
		t.Stop()
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return t, strings.TrimSpace(rest), nil
}

// Client returns a client of the etcd at endpoint.
func Client(endpoint string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
}
