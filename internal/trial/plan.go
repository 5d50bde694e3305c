package trial

import (
	"context"
	"sync"
	"time"

	"github.com/coredns/caddy"
)

// parallel bounds the tests under way: a list of a million names takes a core and 100 MB while it is read.
const parallel = 4

// grace is how long a test may go on after its time: reading from a file system that hangs cannot be cut short.
const grace = time.Second

// Plan is what the plugins of one configuration offered to try, in their order. It is filled by the goroutine that runs
// the set-up.
type Plan struct {
	file   string
	line   int
	plugin string
	tests  []placed
}

// placed is a test and the directive that offered it.
type placed struct {
	Test
	file   string
	line   int
	plugin string
}

// planKey finds the plan in the storage of an instance.
type planKey struct{}

// Begin makes the plan of the configuration that c belongs to.
func Begin(c *caddy.Controller) *Plan {
	p := &Plan{}
	c.Set(planKey{}, p)
	return p
}

// At says which directive, and where, is about to be set up.
func (p *Plan) At(file string, line int, plugin string) {
	p.file, p.line, p.plugin = file, line, plugin
}

// Add adds tests at the place of At.
func (p *Plan) Add(tests ...Test) {
	for _, t := range tests {
		p.tests = append(p.tests, placed{t, p.file, p.line, p.plugin})
	}
}

// Offer adds what tests returns to the plan of the configuration that c belongs to. Without a plan it does nothing.
func Offer(c *caddy.Controller, tests func() []Test) {
	if p, ok := c.Get(planKey{}).(*Plan); ok {
		p.Add(tests()...)
	}
}

// Run tries everything and returns the findings in the order of the plan. It returns soon after ctx ends: what is not
// done by then is a problem, and its goroutine is left alone. With offline, tests that need the network are skipped.
func (p *Plan) Run(ctx context.Context, offline bool) []Finding {
	results := make([]chan []Finding, len(p.tests))
	slots := make(chan struct{}, parallel)
	var started sync.WaitGroup
	for i, t := range p.tests {
		results[i] = make(chan []Finding, 1)
		if offline && t.Network {
			results[i] <- []Finding{Found(Skipped, "needs the network")}
			continue
		}
		started.Go(func() {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				defer func() { <-slots }()
				results[i] <- t.Run(ctx)
			}()
		})
	}
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	var all []Finding
	for i, t := range p.tests {
		for _, f := range await(late, results[i]) {
			f.File, f.Line, f.Plugin = t.file, t.line, t.plugin
			if f.Subject == "" {
				f.Subject = t.Subject
			}
			all = append(all, f)
		}
	}
	started.Wait()
	return all
}

// await waits for the result of one test, until ctx ends.
func await(ctx context.Context, result <-chan []Finding) []Finding {
	select {
	case found := <-result:
		return found
	default:
	}
	select {
	case found := <-result:
		return found
	case <-ctx.Done():
		return []Finding{Found(Problem, "not done in the time for the whole check")}
	}
}
