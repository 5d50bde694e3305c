package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// probeTimeout bounds one probe, connecting included.
const probeTimeout = time.Second

// hurryFor is how long the last call of Hurry counts.
const hurryFor = 2 * time.Second

// prober asks a resolver that has failed until it answers, and keeps count. There is one probe at a time, whatever number
// of questions waits.
type prober struct {
	maxFails uint32
	interval time.Duration
	periodic bool
	meters   *meters
	health   *health
	probe    func(context.Context) error

	fails atomic.Uint32 // probes that failed in a row
	hurry atomic.Int64  // when somebody last said that all depends on this resolver
	kick  chan struct{} // ends a pause
	last  time.Duration // when the last probe began; belongs to the goroutine

	mu      sync.Mutex // guards the following
	running bool
	closed  bool
	cancel  context.CancelFunc // ends the running probes
	ended   sync.WaitGroup
}

func newProber(c Config, h *health, probe func(context.Context) error) *prober {
	return &prober{
		maxFails: c.MaxFails,
		interval: c.Probe.interval(),
		periodic: c.Probe.Periodic && c.MaxFails > 0,
		health:   h,
		probe:    probe,
		kick:     make(chan struct{}, 1),
		last:     -c.Probe.interval(),
	}
}

func (p *prober) down() bool {
	return p.maxFails > 0 && p.fails.Load() >= p.maxFails
}

// start begins probing, unless it is under way. Where nothing is probed it begins the wait after which a resolver that is
// suspect is given another chance.
func (p *prober) start() {
	if p.maxFails == 0 && !p.health.episode.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.running {
		p.wake()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.running, p.cancel = true, cancel
	p.ended.Go(func() {
		defer cancel()
		for again := true; again; again = p.goesOn(ctx) {
			p.untilWelcome(ctx)
		}
	})
}

// goesOn ends the work of start, unless there is more to do: what began just now saw this one running.
func (p *prober) goesOn(ctx context.Context) bool {
	if p.periodic {
		_, alive := p.rest(ctx, jitter(p.interval))
		return alive
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = p.health.episode.Load() && !p.closed
	return p.running
}

// untilWelcome returns when the resolver is let back in, or ctx ends.
func (p *prober) untilWelcome(ctx context.Context) {
	if p.maxFails == 0 {
		p.parole(ctx)
		return
	}
	// Whatever calls for probes, and however often, there is not more than one in an interval while they are answered.
	alive := p.wait(ctx, p.last+p.interval)
	for bad := 0; alive; bad++ {
		p.last = p.health.now()
		good, took := p.once(ctx)
		if good && p.health.welcome(took) {
			return
		}
		excess := bad
		if !good {
			excess = int(p.fails.Load()) - int(p.maxFails)
		}
		alive = p.wait(ctx, p.health.now()+jitter(backoff(p.interval, excess)))
	}
}

// parole lets a resolver back in that is not probed: only a question can tell whether it is well.
func (p *prober) parole(ctx context.Context) {
	until := p.health.now() + jitter(max(p.health.held(), firstHold))
	for d := firstHold; d > 0; d = until - p.health.now() {
		if _, alive := p.rest(ctx, d); !alive {
			return
		}
	}
	p.health.welcome(time.Duration(p.health.cost.Load()))
}

// once sends a probe. good: it was answered, as it should be.
func (p *prober) once(ctx context.Context) (good bool, took time.Duration) {
	bounded, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	start := p.health.now()
	p.health.asked.Store(int64(start))
	err := p.probe(bounded)
	p.health.asked.Store(0)
	now := p.health.now()
	switch {
	case err == nil:
		p.fails.Store(0)
		p.health.hear(now)
		return true, now - start
	case ctx.Err() != nil:
		return false, 0
	case errors.Is(err, errProbeRcode):
		p.health.hear(now)
	case p.health.heard.Load() < int64(start):
		p.health.nobodyHome()
	}
	p.health.confirmed()
	p.meters.probeFailure.Inc()
	p.fails.Add(1)
	return false, 0
}

// wait pauses until the next probe is due, at until or, once somebody is in a hurry, soon after the last one. It reports
// false when ctx ends.
func (p *prober) wait(ctx context.Context, until time.Duration) bool {
	for {
		now := p.health.now()
		due := until
		if p.inHurry(now) {
			due = min(due, p.last+hurried)
		}
		if due <= now {
			return ctx.Err() == nil
		}
		if _, alive := p.rest(ctx, due-now); !alive {
			return false
		}
	}
}

func (p *prober) rest(ctx context.Context, d time.Duration) (kicked, alive bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false, true
	case <-p.kick:
		return true, true
	case <-ctx.Done():
		return false, false
	}
}

func (p *prober) inHurry(now time.Duration) bool {
	at := p.hurry.Load()
	return at != 0 && now-time.Duration(at) < hurryFor
}

// hasten makes the next probe come soon.
func (p *prober) hasten() {
	now, before := int64(p.health.now()), p.hurry.Load()
	if before != 0 && now-before < int64(hurried/2) || !p.hurry.CompareAndSwap(before, now) {
		return // that is known already
	}
	p.start()
}

// wake ends a pause, to look again how long it should be.
func (p *prober) wake() {
	select {
	case p.kick <- struct{}{}:
	default:
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
