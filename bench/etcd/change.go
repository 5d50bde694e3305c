package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/etcdproc"
	"github.com/trident-dns/trident/bench/internal/records"

	"github.com/miekg/dns"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// changeRate is how many records a second are written meanwhile.
	changeRate = 1000
	// changeGap lies between two changes that are looked for, and pollGap between two questions for one.
	changeGap = 10 * time.Millisecond
	pollGap   = 200 * time.Microsecond
	// changePatience bounds how long a change may take to show.
	changePatience = 10 * time.Second
)

// seen says when a change showed in an answer.
type seen struct {
	sinceSent  time.Duration // since the write was sent to etcd
	sinceAcked time.Duration // since etcd acknowledged it; 0 if the answer was there before
}

// change shows how soon changes in etcd show in answers.
func (b *bench) change() error {
	etcd, _, err := etcdproc.Serve(b.contest.Dir, served)
	if err != nil {
		return err
	}
	defer etcd.Stop()
	srv, err := b.binaries.CoreDNS(etcd.Directive())[1].Start(b.contest.Dir, false)
	if err != nil {
		return err
	}
	defer srv.Stop()
	if _, err := srv.WaitFor(srv.Addr, records.Probe(), etcdproc.Patience); err != nil {
		return err
	}
	client, err := etcdproc.Client(etcd.Endpoint)
	if err != nil {
		return err
	}
	defer client.Close()
	d := 2 * b.contest.Duration
	ctx, cancel := context.WithTimeout(context.Background(), d+etcdproc.Patience)
	defer cancel()
	type result struct {
		all []seen
		err error
	}
	watched := make(chan result, 1)
	go func() {
		all, err := watchChanges(ctx, client, srv.Addr, d)
		watched <- result{all, err}
	}()
	writes, err := write(ctx, client, served, changeRate, d)
	r := <-watched
	if err := errors.Join(err, r.err); err != nil {
		return err
	}
	fmt.Printf("\n%s\n", changeTable(r.all, float64(writes)/d.Seconds()))
	return nil
}

// watchChanges writes records that nobody else writes, one after the other, and asks for each until the answer has it.
func watchChanges(ctx context.Context, client *clientv3.Client, addr string, d time.Duration) (all []seen, err error) {
	conn, err := dns.Dial("udp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	tick := time.NewTicker(changeGap)
	defer tick.Stop()
	for start, i := time.Now(), 0; time.Since(start) < d; i++ {
		s, err := watchOne(ctx, client, conn, served+i)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
		<-tick.C
	}
	return all, nil
}

// watchOne writes one record and asks for it meanwhile.
func watchOne(ctx context.Context, client *clientv3.Client, conn *dns.Conn, i int) (s seen, err error) {
	sent := time.Now()
	acked := make(chan time.Time, 1)
	var putErr error
	go func() {
		_, putErr = client.Put(ctx, records.Key(i), records.Value(records.Address(rand.IntN(1<<24))))
		acked <- time.Now()
	}()
	shown, err := poll(conn, records.Name(i))
	at := <-acked
	if err := errors.Join(err, putErr); err != nil {
		return s, err
	}
	return seen{sinceSent: shown.Sub(sent), sinceAcked: max(0, shown.Sub(at))}, nil
}

// poll asks for the name until it has an address, and returns when that was.
func poll(conn *dns.Conn, name string) (time.Time, error) {
	for deadline := time.Now().Add(changePatience); time.Now().Before(deadline); time.Sleep(pollGap) {
		m := new(dns.Msg).SetQuestion(name, dns.TypeA)
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		if err := conn.WriteMsg(m); err != nil {
			return time.Time{}, err
		}
		for {
			r, err := conn.ReadMsg()
			if err != nil {
				break // lost: the next question has its turn
			}
			if r.Id == m.Id && len(r.Answer) > 0 {
				return time.Now(), nil
			}
			if r.Id == m.Id {
				break
			}
		}
	}
	return time.Time{}, fmt.Errorf("the change of %s did not show within %v", name, changePatience)
}

// changeTable is the table of all changes that were looked for.
func changeTable(all []seen, rate float64) string {
	row := func(what string, f func(seen) time.Duration) []string {
		var sorted []time.Duration
		for _, s := range all {
			sorted = append(sorted, f(s))
		}
		slices.Sort(sorted)
		return []string{what, millis(contest.Percentile(sorted, 50)), millis(contest.Percentile(sorted, 99)), millis(contest.Percentile(sorted, 100))}
	}
	return contest.Table([][]string{
		{fmt.Sprintf("until a change shows, %s writes a second, %d looked for", contest.Thousands(rate), len(all)), "median", "p99", "longest"},
		row("from the acknowledgement of etcd", func(s seen) time.Duration { return s.sinceAcked }),
		row("from sending it to etcd", func(s seen) time.Duration { return s.sinceSent }),
	})
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}
