package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/etcdproc"
	"github.com/trident-dns/trident/bench/internal/rig"
)

const (
	// mirrored is how many records the mirrors copy.
	mirrored = 10_000
	// mirrorWrites is how many of them are written each second.
	mirrorWrites = 100
)

// mirrorCost shows what mirrors cost the etcd that they copy: to list all records, to be told of changes, and idle.
func (b *bench) mirrorCost() error {
	var costs []cost
	for _, proxied := range []bool{false, true} {
		counts := b.mirrors
		if !proxied {
			counts = append([]int{0}, counts...) // what writing costs by itself
		}
		for _, n := range counts {
			c, err := b.mirrorRun(n, proxied)
			if err != nil {
				return fmt.Errorf("%d mirrors: %w", n, err)
			}
			log.Printf("%3d mirrors, proxy %-5v: list %v; idle %v; %d writes %v; %d changes, %d lists again",
				n, proxied, c.list, c.idle, c.writes, c.change, c.changes, c.relists)
			costs = append(costs, c)
		}
	}
	fmt.Printf("\n%s\n", mirrorTable(costs))
	return nil
}

// use is what etcd, or the proxy, used in a phase.
type use struct {
	cpu  time.Duration
	sent float64 // bytes
	took time.Duration
}

func (u use) String() string {
	return fmt.Sprintf("%v CPU in %v, %.0f bytes", u.cpu, u.took.Round(time.Millisecond), u.sent)
}

// cost is what a run found out.
type cost struct {
	mirrors            int
	proxied            bool
	list, idle, change use           // of etcd; sent includes what the generator was sent
	proxyCPU           time.Duration // of changes
	memory             float64       // that etcd had more at the end of the idle phase than before the mirrors, in bytes
	proxyMemory        float64       // of the proxy, all of it
	writes             int
	changes, relists   int // that mirrors were told and did, all together
}

func (b *bench) mirrorRun(n int, proxied bool) (c cost, err error) {
	c = cost{mirrors: n, proxied: proxied}
	etcd, _, err := etcdproc.Serve(b.contest.Dir, mirrored)
	if err != nil {
		return c, err
	}
	defer etcd.Stop()
	endpoint := etcd.Endpoint
	var proxy *etcdproc.Server
	if proxied {
		if proxy, err = etcdproc.StartProxy(rig.ServerCore, etcd.Endpoint); err != nil {
			return c, err
		}
		defer proxy.Stop()
		endpoint = proxy.Endpoint
	}
	before, err := etcd.Memory("VmRSS")
	if err != nil {
		return c, err
	}
	var mirrors *etcdproc.Mirrors
	c.list, err = during(etcd, func() (err error) {
		mirrors, err = etcdproc.StartMirrors(rig.ServerCore, endpoint, n)
		return err
	})
	if err != nil {
		return c, err
	}
	defer mirrors.Stop()
	c.idle, err = during(etcd, func() error {
		time.Sleep(b.contest.Duration)
		return nil
	})
	if err != nil {
		return c, err
	}
	after, err := etcd.Memory("VmRSS")
	if err != nil {
		return c, err
	}
	c.memory = after - before
	if err := b.changePhase(etcd, proxy, &c); err != nil {
		return c, err
	}
	c.changes, c.relists, err = mirrors.Finish()
	return c, err
}

func (b *bench) changePhase(etcd, proxy *etcdproc.Server, c *cost) error {
	client, err := etcdproc.Client(etcd.Endpoint)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), b.contest.Duration+etcdproc.Patience)
	defer cancel()
	var before time.Duration
	if proxy != nil {
		if before, err = proxy.CPU(); err != nil {
			return err
		}
	}
	c.change, err = during(etcd, func() (err error) {
		c.writes, err = write(ctx, client, mirrored, mirrorWrites, b.contest.Duration)
		return err
	})
	if err != nil || proxy == nil {
		return err
	}
	after, err := proxy.CPU()
	if err != nil {
		return err
	}
	c.proxyCPU = after - before
	c.proxyMemory, err = proxy.Memory("VmRSS")
	return err
}

// during tells what etcd used while f ran.
func during(etcd *etcdproc.Server, f func() error) (u use, err error) {
	var cpu [2]time.Duration
	var sent [2]float64
	read := func(i int) error {
		var err error
		if sent[i], err = etcd.Metric(etcdproc.SentBytes); err != nil {
			return err
		}
		cpu[i], err = etcd.CPU()
		return err
	}
	if err := read(0); err != nil {
		return u, err
	}
	start := time.Now()
	if err := f(); err != nil {
		return u, err
	}
	took := time.Since(start)
	if err := read(1); err != nil {
		return u, err
	}
	return use{cpu: cpu[1] - cpu[0], sent: sent[1] - sent[0], took: took}, nil
}

// mirrorTable is the table of all runs. What a change costs with mirrors is told less what it costs without, which is the
// first run's.
func mirrorTable(costs []cost) string {
	rows := [][]string{{fmt.Sprintf("mirrors of %s records", contest.Thousands(mirrored)),
		"etcd CPU to list, each", "sent to list, each", "etcd memory, each", "etcd busy when idle",
		"etcd CPU a change", "more than without mirrors, each", "sent a change, each", "proxy CPU a change", "proxy memory", "lists again"}}
	var alone time.Duration // etcd's CPU time of a change without mirrors
	for _, c := range costs {
		if c.mirrors == 0 && c.writes > 0 {
			alone = c.change.cpu / time.Duration(c.writes)
		}
	}
	for _, c := range costs {
		rows = append(rows, c.row(alone))
	}
	return contest.Table(rows)
}

func (c cost) row(alone time.Duration) []string {
	name := fmt.Sprint(c.mirrors)
	if c.proxied {
		name += ", proxy"
	}
	a := c.change.cpu / time.Duration(max(1, c.writes))
	idle := fmt.Sprintf("%.1f %%", 100*float64(c.idle.cpu)/float64(c.idle.took))
	if c.mirrors == 0 {
		return []string{name, "", "", "", idle, micros(a), "", "", "", "", ""}
	}
	n := float64(c.mirrors)
	proxyCPU, proxyMemory := "", ""
	if c.proxied {
		proxyCPU, proxyMemory = micros(c.proxyCPU/time.Duration(max(1, c.writes))), megabytes(c.proxyMemory)
	}
	return []string{
		name,
		fmt.Sprintf("%.1f ms", float64(c.list.cpu)/n/float64(time.Millisecond)), megabytes(c.list.sent / n),
		megabytes(c.memory / n), idle,
		micros(a), micros(time.Duration(float64(a-alone) / n)),
		fmt.Sprintf("%.0f bytes", c.change.sent/n/float64(max(1, c.writes))), proxyCPU, proxyMemory, fmt.Sprint(c.relists),
	}
}

func micros(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}

func megabytes(b float64) string { return fmt.Sprintf("%.2f MB", b/1e6) }
