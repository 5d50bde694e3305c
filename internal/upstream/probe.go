package upstream

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// probeTimeout bounds one probe, connecting included.
const probeTimeout = time.Second

// prober asks a resolver that has failed until it answers, and keeps count.
type prober struct {
	maxFails uint32
	interval time.Duration
	meters   *meters
	probe    func(context.Context) error

	fails atomic.Uint32 // probes that failed in a row

	mu      sync.Mutex // guards the following
	running bool
	closed  bool
	cancel  context.CancelFunc // ends the running probes
	ended   sync.WaitGroup
}

func newProber(c Config, m *meters, probe func(context.Context) error) *prober {
	return &prober{maxFails: c.MaxFails, interval: c.Probe.interval(), meters: m, probe: probe}
}

func (p *prober) down() bool {
	return p.maxFails > 0 && p.fails.Load() >= p.maxFails
}

// start begins probing, unless it is under way or nobody would look at the result.
func (p *prober) start() {
	if p.maxFails == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running || p.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.running, p.cancel = true, cancel
	p.ended.Go(func() {
		defer cancel()
		p.untilAnswered(ctx)
		p.mu.Lock()
		p.running = false
		p.mu.Unlock()
	})
}

func (p *prober) untilAnswered(ctx context.Context) {
	for {
		bounded, cancel := context.WithTimeout(ctx, probeTimeout)
		err := p.probe(bounded)
		cancel()
		if err == nil {
			p.fails.Store(0)
			return
		}
		if ctx.Err() != nil {
			return
		}
		p.meters.probeFailure.Inc()
		p.fails.Add(1)
		timer := time.NewTimer(jitter(p.interval))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// close ends probing and waits for that. What is known of the resolver stays.
func (p *prober) close() {
	p.mu.Lock()
	p.closed = true
	if p.running {
		p.cancel()
	}
	p.mu.Unlock()
	p.ended.Wait()
}

// jitter takes up to a tenth off d, so that what began together does not stay together.
func jitter(d time.Duration) time.Duration {
	if d < 10 {
		return d
	}
	return d - rand.N(d/10)
}
