package etcdproc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/trident-dns/trident/bench/internal/records"
	"github.com/trident-dns/trident/bench/internal/rig"
	"github.com/trident-dns/trident/etcd/mirror"

	clog "github.com/coredns/coredns/plugin/pkg/log"
)

// Mirrors are copies of all records, as so many DNS servers would keep them, without the servers.
type Mirrors struct{ *rig.Talker }

// StartMirrors opens n mirrors of the etcd at endpoint in one process, each with a client of its own, and returns when all
// have listed.
func StartMirrors(core, endpoint string, n int) (*Mirrors, error) {
	t, _, err := startHelper(core, "mirrors", endpoint, strconv.Itoa(n))
	if err != nil {
		return nil, err
	}
	return &Mirrors{t}, nil
}

// Finish ends the mirrors and returns how many changes they were told, and how often they listed again, all together.
func (m *Mirrors) Finish() (changes, relists int, err error) {
	m.Stop()
	line, err := m.Line(Patience)
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(line, &changes, &relists)
	return changes, relists, err
}

// openMirrors is the helper: ENDPOINT N.
func openMirrors(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("needs an endpoint and a number of mirrors")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	var listed sync.WaitGroup
	var changes, relists atomic.Int64
	clog.Discard() // a line from each mirror is too much; what goes wrong shows in relists
	listed.Add(n)
	for range n {
		m, err := mirror.Open(mirror.Config{
			Endpoints: []string{args[0]},
			OnRelist:  func(mirror.Reason) { relists.Add(1) },
		})
		if err != nil {
			return err
		}
		m.Subscribe(mirror.Prefix(records.Prefix), &counter{listed: &listed, changes: &changes}, mirror.Position{})
	}
	all := make(chan struct{})
	go func() {
		listed.Wait()
		close(all)
	}()
	select {
	case <-all:
		fmt.Println(ready)
	case <-ctx.Done():
		return ctx.Err()
	}
	<-ctx.Done()
	fmt.Println(changes.Load(), relists.Load())
	return nil // the process ends
}

// counter is a sink that keeps nothing.
type counter struct {
	listed  *sync.WaitGroup // told of the first list that is read to its end
	done    bool
	changes *atomic.Int64
}

// Reset implements mirror.Sink.
func (c *counter) Reset(_ mirror.Position, kvs iter.Seq2[mirror.KV, error]) {
	for _, err := range kvs {
		if err != nil {
			return
		}
	}
	if !c.done {
		c.done = true
		c.listed.Done()
	}
}

// Apply implements mirror.Sink.
func (c *counter) Apply(_ mirror.Position, puts []mirror.KV, deletes []string) {
	c.changes.Add(int64(len(puts) + len(deletes)))
}
