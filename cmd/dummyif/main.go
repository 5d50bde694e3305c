//go:build linux

// Command dummyif keeps a network interface with given addresses: it makes a dummy interface if there is none of the
// name, brings it up and adds the addresses that it lacks. The image of a DNS server has no shell and no ip; this is what
// a DNS server on every node of a cluster needs of them, for an address that is the same on all nodes.
//
//	dummyif -name node-dns -address 169.254.20.10/32              # once
//	dummyif -name node-dns -address 169.254.20.10/32 -every 5s    # and again whenever somebody takes it away
//	dummyif -name node-dns -address 169.254.20.10/32 -check       # exit code 0: it is there
//
// It needs CAP_NET_ADMIN, but for -check. It removes nothing, neither addresses nor, at its end, the interface: the next
// one finds what it needs in place.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("dummyif: ")
	var (
		name  = flag.String("name", "", "`name` of the interface, of 1 to 15 bytes")
		list  = flag.String("address", "", "`addresses` with their prefix lengths, with commas between them")
		every = flag.Duration("every", 0, "look again after each `duration`, and end on SIGTERM only")
		check = flag.Bool("check", false, "change nothing, say by the exit code whether all is as wanted")
	)
	flag.Parse()
	want, err := parse(*name, *list)
	if err != nil || flag.NArg() > 0 || *every < 0 || *check && *every > 0 {
		if err != nil {
			log.Print(err)
		}
		flag.Usage()
		os.Exit(exitUsage)
	}
	if *check {
		if missing := want.missing(); missing != nil {
			log.Print(missing)
			os.Exit(exitFailed)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err = keep(ctx, want, *every)
	stop()
	if err != nil {
		log.Print(err)
		os.Exit(exitFailed)
	}
}

// keep makes the interface once, and, with every > 0, again until ctx ends. Only the first failure of a row is logged.
// Without every, the failure is returned.
func keep(ctx context.Context, want wanted, every time.Duration) error {
	failing := false
	for {
		changed, err := want.ensure()
		switch {
		case err != nil && every == 0:
			return err
		case err != nil && !failing:
			log.Printf("%v; trying again every %v", err, every)
		case err == nil && (changed || failing):
			log.Printf("%s has %v", want.name, want.addresses)
		}
		failing = err != nil
		if every == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// wanted is an interface that has to be up, and the addresses that it has to have.
type wanted struct {
	name      string
	kind      string // of an interface that has to be made first
	addresses []netip.Prefix
}

// maxName is IFNAMSIZ without the zero at the end.
const maxName = 15

func parse(name, list string) (wanted, error) {
	if name == "" || len(name) > maxName || strings.ContainsAny(name, "/ \t\n:") {
		return wanted{}, fmt.Errorf("-name is %q, want 1 to %d bytes without spaces, slashes and colons", name, maxName)
	}
	w := wanted{name: name, kind: "dummy"}
	for text := range strings.SplitSeq(list, ",") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return wanted{}, fmt.Errorf("-address: %w, want an address like 169.254.20.10/32", err)
		}
		if p.Addr().IsMulticast() || p.Addr().IsUnspecified() {
			return wanted{}, errors.New("-address: " + text + " is no address of a host")
		}
		w.addresses = append(w.addresses, p)
	}
	return w, nil
}
