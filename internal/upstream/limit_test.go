package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
)

func TestRateIsNeverExceeded(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		rate, burst := 1+random.Float64()*2000, 1+random.IntN(100)
		p := newPace(rate, burst)
		var taken []time.Duration
		now := time.Duration(1)
		for range 20000 {
			now += time.Duration(random.ExpFloat64() / rate / 20 * float64(time.Second))
			if p.take(now) {
				taken = append(taken, now)
			}
		}
		for i := range taken {
			for j := i; j < len(taken); j += 1 + random.IntN(100) {
				most := float64(burst) + (taken[j]-taken[i]).Seconds()*rate + 0.01
				if n := j - i + 1; float64(n) > most {
					t.Fatalf("%d within %v at %g a second and %d at once", n, taken[j]-taken[i], rate, burst)
				}
			}
		}
		// Nor is less let through than is allowed.
		if least := 0.9 * now.Seconds() * rate; float64(len(taken)) < least {
			t.Fatalf("%d let through in %v at %g a second", len(taken), now, rate)
		}
	}
}

func TestBurstWithoutConfigurationTakesAPage(t *testing.T) {
	for rate, want := range map[float64]int{0.1: minBurst, 10: minBurst, 1000: 100, 1e12: maxBurst} {
		p := newPace(rate, 0)
		n := 0
		for n <= maxBurst && p.take(1) {
			n++
		}
		if n != want {
			t.Errorf("%d at once at %g a second, want %d", n, rate, want)
		}
	}
}

func TestQuestionOverALimitComesBackAtOnceAndHarmsNobody(t *testing.T) {
	for name, tt := range map[string]struct {
		limit  func(*Config)
		reason error
		label  string
	}{
		"in flight": {func(c *Config) { c.MaxInFlight = 10 }, errInFlight, "in_flight"},
		"rate":      {func(c *Config) { c.RateLimit, c.RateBurst = 0.001, 10 }, errRate, "rate"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := probed()
				tt.limit(&c)
				r, s := simulate(t, c, takes(50*time.Millisecond))
				counter := limited.WithLabelValues("simulated", r.Addr(), tt.label)
				before := value(t, counter)
				var all sync.WaitGroup
				var mu sync.Mutex
				refused := 0
				for range 1000 {
					all.Go(func() {
						start := time.Now()
						err := once(r)
						if err == nil {
							return
						}
						mu.Lock()
						defer mu.Unlock()
						refused++
						if !errors.Is(err, tt.reason) || !errors.Is(err, ErrLimited) || Reason(err) != "limited" {
							t.Errorf("got %v", err)
						}
						if took := time.Since(start); took != 0 {
							t.Errorf("waited %v to be refused", took)
						}
					})
				}
				synctest.Wait()
				if n := r.InFlight(); n != 10 {
					t.Errorf("%d in flight, want 10", n)
				}
				all.Wait()
				if refused != 990 || s.questions.Load() != 10 || r.InFlight() != 0 {
					t.Errorf("%d refused, %d sent, %d left", refused, s.questions.Load(), r.InFlight())
				}
				if got := value(t, counter) - before; got != 990 {
					t.Errorf("counted %v", got)
				}
				if r.State() != Sound || s.probes.Load() != 0 || r.Latency() != 50*time.Millisecond {
					t.Errorf("%s after %d probes, latency %v", r.State(), s.probes.Load(), r.Latency())
				}
			})
		})
	}
}

func TestRetransmissionsCountForTheRate(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	r := open(t, up, func(c *Config) { c.RateLimit, c.RateBurst, c.ReadTimeout = 0.001, 2, 2*time.Second })
	refuse(t, r, Question{Msg: question("example.org.")}, 5*time.Second, ErrTimeout)
	if n := up.Questions("udp"); n != 2 {
		t.Errorf("%d datagrams were sent, want 2", n)
	}
}

func TestBoundOnQuestionsInFlightIsThereByDefault(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	r := open(t, up)
	r.health.inFlight.Store(DefaultMaxInFlight)
	if _, err := r.Exchange(context.Background(), Question{Msg: question("example.org.")}); !errors.Is(err, ErrLimited) {
		t.Errorf("got %v", err)
	}
}
