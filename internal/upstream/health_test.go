package upstream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// probed is the configuration of a Corefile without properties.
func probed() Config { return Config{MaxFails: DefaultMaxFails} }

func TestBlackHoleMakesAResolverSuspectLongBeforeTheReadTimeout(t *testing.T) {
	for name, tt := range map[string]struct {
		perSecond int
		config    Config
		most      time.Duration
	}{
		"1,000 questions a second":               {1000, probed(), 100 * time.Millisecond},
		"50 questions a second":                  {50, probed(), 200 * time.Millisecond},
		"one question a second":                  {1, probed(), 1200 * time.Millisecond},
		"1,000 questions a second, no probes":    {1000, Config{}, 100 * time.Millisecond},
		"50 questions a second, no probes":       {50, Config{}, 300 * time.Millisecond},
		"one question every 2 s, no probes":      {1, Config{}, 4 * time.Second},
		"not one question before the black hole": {0, probed(), 400 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cut := 10 * time.Second
				r, _ := simulate(t, tt.config, until(cut, 2*time.Millisecond))
				if tt.perSecond == 0 {
					time.Sleep(cut)
					tt.perSecond = 1
				} else {
					pour(r, tt.perSecond, cut)
				}
				if s := r.State(); s != Sound {
					t.Errorf("%s before the cut", s)
				}
				go pour(r, tt.perSecond, 10*time.Second)
				stateAfter(t, r, Suspect, tt.most)
				time.Sleep(20 * time.Second)
			})
		})
	}
}

func TestSlowRepliesAmongFastOnesAreNoReasonForSuspicion(t *testing.T) {
	// The servers of some zones are slow, and what they say is not in the resolver's cache.
	for name, perSecond := range map[string]int{"busy": 1000, "quiet": 20, "nearly idle": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, uint64(perSecond)))
				r, _ := simulate(t, probed(), func(now time.Duration) time.Duration {
					if now%time.Minute != 0 && random.IntN(10) == 0 {
						return 100*time.Millisecond + time.Duration(random.Int64N(int64(800*time.Millisecond)))
					}
					return 2 * time.Millisecond
				})
				r.health.prober.probe = func(context.Context) error { time.Sleep(2 * time.Millisecond); return nil }
				end := time.Now().Add(time.Minute)
				go pour(r, perSecond, time.Minute)
				for time.Now().Before(end) {
					if s := r.State(); s != Sound {
						t.Errorf("%s", s)
						break
					}
					time.Sleep(5 * time.Millisecond)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
}

func TestPageOfSlowNamesIsNoReasonForSuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slowly atomic.Bool
		r, s := simulate(t, probed(), func(time.Duration) time.Duration {
			if slowly.Load() {
				return 900 * time.Millisecond
			}
			return 2 * time.Millisecond
		})
		r.health.prober.probe = func(context.Context) error { s.probes.Add(1); time.Sleep(2 * time.Millisecond); return nil }
		pour(r, 20, 3*time.Second)
		slowly.Store(true)
		for range 12 { // three names, each with four types
			go once(r)
		}
		for range 1000 {
			if got := r.State(); got != Sound {
				t.Errorf("%s", got)
				break
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		if n := s.probes.Load(); n == 0 || n > 2 {
			t.Errorf("%d probes, want one to tell slow from gone", n)
		}
	})
}

func TestOrderOfOutcomesDoesNotMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(3, 4))
		for range 300 {
			// As many as there is room for in the smaller window, so that none is forgotten.
			bad, lost, good := random.IntN(9), random.IntN(9), 0
			good = random.IntN(failureWindow - min(bad+lost, failureWindow) + 1)
			var outcomes []string
			for kind, n := range map[string]int{"bad": bad, "lost": lost, "good": good} {
				for range n {
					outcomes = append(outcomes, kind)
				}
			}
			if len(outcomes) > failureWindow {
				continue
			}
			seen := map[State]string{}
			for range 10 {
				random.Shuffle(len(outcomes), func(i, j int) { outcomes[i], outcomes[j] = outcomes[j], outcomes[i] })
				r, _ := simulate(t, Config{}, takes(0))
				for _, kind := range outcomes {
					now := time.Now()
					a := &Answer{Sent: now, Received: now.Add(time.Millisecond)}
					switch kind {
					case "bad":
						r.health.failed(time.Second)
					case "lost":
						r.health.answered(a, true, false)
					default:
						r.health.answered(a, false, false)
					}
				}
				seen[r.State()] = fmt.Sprint(outcomes)
				r.Close()
			}
			if len(seen) > 1 {
				t.Fatalf("the same outcomes in another order make another state: %v", seen)
			}
		}
	})
}

func TestHalfFailedMakesSuspectAndAFifthDoesNot(t *testing.T) {
	for name, tt := range map[string]struct {
		of, bad int
		want    State
	}{
		"all":     {1, 1, Suspect},
		"half":    {2, 1, Suspect},
		"a fifth": {5, 1, Sound},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := probed()
				c.Probe.FailRcodes = []int{dns.RcodeServerFailure}
				r, s := simulate(t, c, takes(2*time.Millisecond))
				n := 0
				s.rcode = func() int {
					if n++; n%tt.of < tt.bad {
						return dns.RcodeServerFailure
					}
					return dns.RcodeSuccess
				}
				r.health.prober.probe = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
				for range 16 {
					if err := once(r); err != nil {
						t.Fatal(err)
					}
				}
				if got := r.State(); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// Who answers probes with the rcode that half of the replies have is there, and let back in.
func TestPoorRcodesAreFailuresOfQuestionsAndNotOfProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := probed()
		c.PoorRcodes = []int{dns.RcodeServerFailure}
		r, s := simulate(t, c, takes(2*time.Millisecond))
		s.rcode = func() int { return dns.RcodeServerFailure }
		suspect := false
		for range 16 {
			if err := once(r); err != nil {
				t.Fatal(err)
			}
			suspect = suspect || r.State() == Suspect
		}
		if !suspect {
			t.Error("never suspect although all replies were poor")
		}
		time.Sleep(time.Minute)
		if got := r.State(); got == Suspect || got == Down {
			t.Errorf("%s a minute later, although probes are answered", got)
		}
	})
}

func TestRcodesThatAreNotNamedAreNoFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := simulate(t, probed(), takes(2*time.Millisecond))
		s.rcode = func() int { return dns.RcodeServerFailure }
		for range 50 {
			if err := once(r); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.State(); got != Sound {
			t.Errorf("%s", got)
		}
		if n := s.probes.Load(); n != 0 {
			t.Errorf("%d probes", n)
		}
	})
}

func TestLostDatagramsMakeSuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := simulate(t, probed(), takes(0))
		now := time.Now()
		for i := range 60 {
			r.health.answered(&Answer{Sent: now, Received: now.Add(time.Millisecond)}, i%5 == 0, false)
		}
		if got := r.State(); got != Suspect {
			t.Errorf("%s with a fifth of the datagrams lost", got)
		}
	})
}

func TestLossyPathIsFoundOutAgainByFewQuestions(t *testing.T) {
	// Probes get through it, one time in five at the second attempt.
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(7, 8))
		r, _ := simulate(t, probed(), takes(time.Millisecond))
		asked, lost := 0, 0
		for range 10 * 500 {
			if !r.Admits() {
				time.Sleep(2 * time.Millisecond)
				continue
			}
			isLost := random.IntN(5) == 0
			if asked++; isLost {
				lost++
			}
			go func() {
				now := time.Now()
				if isLost {
					time.Sleep(minRTO)
				}
				r.health.answered(&Answer{Sent: now, Received: time.Now()}, isLost, false)
			}()
			time.Sleep(2 * time.Millisecond)
		}
		if lost > 80 || asked > 400 {
			t.Errorf("in ten seconds %d of 5000 questions were asked over a lossy path, and %d lost", asked, lost)
		}
		if asked < 100 {
			t.Errorf("only %d of 5000 questions were asked: nobody would notice that the path is good again", asked)
		}
		time.Sleep(time.Second)
	})
}

func TestProcessThatStoodStillDoesNotBlameTheResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := simulate(t, probed(), takes(2*time.Millisecond))
		h := r.health
		for range surely {
			if err := h.begin(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		// The timer of tick runs late, as it does when nothing runs.
		h.mu.Lock()
		h.timer.Stop()
		h.mu.Unlock()
		time.Sleep(500 * time.Millisecond)
		h.tick()
		if got := r.State(); got != Sound {
			t.Errorf("%s", got)
		}
		time.Sleep(patience(0) + 2*beat)
		if got := r.State(); got != Suspect && got != Returning { // probes are answered
			t.Errorf("%s, although nothing comes back while the process runs", got)
		}
	})
}

func TestSickResolverDoesNotStayFast(t *testing.T) {
	for name, err := range map[string]error{"refused": ErrRefused, "malformed": ErrMalformed, "closed": ErrClosed} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := simulate(t, Config{}, takes(2*time.Millisecond))
				for range 20 {
					once(r)
				}
				if got := r.Latency(); got != 2*time.Millisecond {
					t.Errorf("%v, want 2ms", got)
				}
				s.err = func() error { return err }
				once(r)
				if got := r.Latency(); got < 100*time.Millisecond {
					t.Errorf("%v after a failure that took no time", got)
				}
			})
		})
	}
}

func TestLateIsTheResolversOwn95thPercentile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		r, _ := simulate(t, probed(), func(time.Duration) time.Duration {
			if n++; n%10 == 0 {
				return 200 * time.Millisecond
			}
			return 3 * time.Millisecond
		})
		once(r)
		if got := r.Late(); got != 0 {
			t.Errorf("%v known from one reply", got)
		}
		pour(r, 100, 5*time.Second)
		if got := r.Late(); got < 200*time.Millisecond || got > 250*time.Millisecond {
			t.Errorf("%v, want a little more than 200ms", got)
		}
		time.Sleep(time.Second)
	})
}
