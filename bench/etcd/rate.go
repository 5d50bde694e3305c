package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trident-dns/trident/bench/internal/etcdproc"
	"github.com/trident-dns/trident/bench/internal/records"

	"github.com/miekg/dns"
)

// served is how many records the questions of rate and change are for.
const served = 100_000

// rate compares answers a second and what they cost.
func (b *bench) rate() error {
	etcd, _, err := etcdproc.Serve(b.contest.Dir, served)
	if err != nil {
		return err
	}
	defer etcd.Stop()
	hosts := filepath.Join(b.contest.Dir, "hosts")
	if err := os.WriteFile(hosts, []byte(records.HostsFile(served)), 0o600); err != nil {
		return err
	}
	var failed []string
	for _, qtype := range []uint16{dns.TypeA, dns.TypeSRV} {
		contenders := b.binaries.CoreDNS(etcd.Directive())
		if qtype == dns.TypeA { // hosts has no other
			for _, c := range b.binaries.CoreDNS("hosts " + hosts)[1:] {
				c.Name += ", hosts"
				contenders = append(contenders, c)
			}
		}
		row, err := etcd.Row(b.contest.Dir, served, qtype, contenders)
		if err != nil {
			return err
		}
		result := b.contest.Run(row)
		result.Finish()
		failed = append(failed, result.Failed()...)
		if b.contest.Profiles == "" {
			fmt.Printf("\n%s\n", result.Markdown())
		}
	}
	if len(failed) > 0 {
		return errors.New("failed: " + strings.Join(failed, "; "))
	}
	return nil
}
