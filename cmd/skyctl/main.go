// Command skyctl is to DNS records in etcd what etcdctl is to keys: it puts, lists, deletes, watches, imports, exports and
// checks the records that Trident's etcd plugin, CoreDNS's own and SkyDNS serve. It reads and checks them with the code
// that the server loads them with. docs/skyctl.md is its manual.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is Trident's. A release sets it with -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.LookupEnv})
	stop()
	os.Exit(code)
}
