package upstream

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// gone is a resolver that answers within 2 ms, but for the time from leaves to comes.
func gone(leaves, comes time.Duration) func(time.Duration) time.Duration {
	return func(now time.Duration) time.Duration {
		if now >= leaves && now < comes {
			return -1
		}
		return 2 * time.Millisecond
	}
}

func TestThousandWaitingQuestionsAreNotAThousandProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := 10 * time.Second
		r, s := simulate(t, probed(), gone(0, back))
		for range 1000 {
			go once(r)
			r.Failed()
			r.Hurry()
		}
		for range 2000 {
			r.Failed()
			r.Hurry()
			time.Sleep(5 * time.Millisecond)
		}
		// One in half a second, each of which lasts up to a second.
		if n := s.probes.Load(); n < 10 || n > 21 {
			t.Errorf("%d probes in %v, want 10 to 21", n, back)
		}
		stateAfter(t, r, Returning, time.Second)
		time.Sleep(5 * time.Second)
	})
}

func TestProbesAreSentLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := simulate(t, probed(), gone(0, time.Hour))
		r.Failed()
		time.Sleep(5 * time.Minute)
		if !r.Down() || r.State() != Down {
			t.Fatal("not down")
		}
		var pauses []time.Duration
		for i, at := range s.probeTimes[1:] {
			pauses = append(pauses, at-s.probeTimes[i]-probeTimeout)
		}
		if len(pauses) < 10 || len(pauses) > 45 {
			t.Fatalf("%d probes in five minutes", len(pauses)+1)
		}
		// Until it is known to be down nothing is put off.
		for i, most := range []time.Duration{500, 500, 1000, 2000, 4000, 8000, 10000, 10000} {
			most *= time.Millisecond
			if pauses[i] > most || pauses[i] < most*9/10 {
				t.Errorf("pause %d is %v, want %v but for some jitter", i, pauses[i], most)
			}
		}
	})
}

func TestHurryBringsAResolverBackWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := simulate(t, probed(), gone(0, 5*time.Minute))
		r.Failed()
		time.Sleep(5*time.Minute - 100*time.Millisecond)
		if !r.Down() {
			t.Fatal("not down")
		}
		start := time.Now()
		for r.Down() {
			if time.Since(start) > time.Minute {
				t.Fatal("still down")
			}
			r.Hurry() // as each question does
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(start) - 100*time.Millisecond; took > time.Second {
			t.Errorf("back after %v", took)
		}
	})
}

func TestDownTakesSoManyFailedProbesInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := probed()
		c.MaxFails = 4
		r, s := simulate(t, c, gone(0, time.Hour))
		r.Failed()
		stateAfter(t, r, Down, time.Minute)
		if n := s.probes.Load(); n != 4 {
			t.Errorf("down after %d probes, want 4", n)
		}
	})
}

func TestWithoutProbesNothingIsEverDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := simulate(t, Config{}, gone(0, 20*time.Second))
		go pour(r, 100, 40*time.Second)
		stateAfter(t, r, Suspect, time.Second)
		for range 300 {
			if r.Down() {
				t.Fatal("down")
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := s.probes.Load(); n != 0 {
			t.Errorf("%d probes", n)
		}
		if got := r.State(); got != Sound {
			t.Errorf("%s ten seconds after it is back", got)
		}
		time.Sleep(15 * time.Second)
	})
}

func TestReturnIsGradual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := simulate(t, probed(), gone(0, 3*time.Second))
		r.Failed()
		stateAfter(t, r, Down, 10*time.Second)
		if r.Admits() {
			t.Error("a resolver that is down admits questions")
		}
		stateAfter(t, r, Returning, 10*time.Second)
		last := 0
		for range 4 {
			let := 0
			for range 1000 {
				if r.Admits() {
					let++
				}
			}
			if let <= last || let == 1000 {
				t.Errorf("%d of 1000 are let in, after %d", let, last)
			}
			last = let
			time.Sleep(ramp / 4)
		}
		time.Sleep(ramp)
		if got := r.State(); got != Sound || !r.Admits() {
			t.Errorf("%s after the ramp", got)
		}
	})
}

func TestRelapseIsHeldBackLongerEachTime(t *testing.T) {
	// Up for three seconds, and away for three.
	synctest.Test(t, func(t *testing.T) {
		r, _ := simulate(t, probed(), func(now time.Duration) time.Duration {
			if now/(3*time.Second)%2 == 1 {
				return -1
			}
			return 2 * time.Millisecond
		})
		go pour(r, 200, 3*time.Minute)
		var in [3]time.Duration
		for i := range 3 * 60 * 100 {
			if r.State() != Suspect && r.State() != Down {
				in[i/6000] += 10 * time.Millisecond
			}
			time.Sleep(10 * time.Millisecond)
		}
		if in[0] == 0 || in[1] > in[0] || in[2] > 20*time.Second {
			t.Errorf("let in for %v in the three minutes", in)
		}
		time.Sleep(10 * time.Second)
	})
}

func TestHealthyForAWhileForgivesRelapses(t *testing.T) {
	for _, tt := range []struct {
		n     int
		since time.Duration
		want  int
	}{
		{0, time.Hour, 0}, {0, time.Second, 1}, {3, 10 * time.Second, 4}, {3, calm + hold(3), 0}, {40, time.Second, 41},
	} {
		if got := relapses(tt.n, tt.since); got != tt.want {
			t.Errorf("relapses(%d, %v) = %d, want %d", tt.n, tt.since, got, tt.want)
		}
	}
	for n, want := range map[int]time.Duration{0: 0, 1: firstHold, 2: 2 * firstHold, 99: maxHold} {
		if got := hold(n); got != want {
			t.Errorf("hold(%d) = %v, want %v", n, got, want)
		}
	}
}

func TestPeriodicProbesFindOutBeforeAnyQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := probed()
		c.Probe.Periodic = true
		r, s := simulate(t, c, gone(10*time.Second, 30*time.Second))
		time.Sleep(9 * time.Second)
		if n := s.probes.Load(); n < 17 || n > 22 {
			t.Errorf("%d probes in nine seconds, want one each half a second", n)
		}
		stateAfter(t, r, Down, 5*time.Second)
		stateAfter(t, r, Returning, 30*time.Second)
		stateAfter(t, r, Sound, 5*time.Second)
	})
}

func TestQuestionsThatFailDoNotMakeProbesThatAreAnsweredMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := simulate(t, probed(), takes(2*time.Millisecond))
		s.err = func() error { return ErrMalformed }
		r.health.prober.probe = func(context.Context) error { s.probes.Add(1); return nil }
		pour(r, 1000, 10*time.Second)
		if n := s.probes.Load(); n > 21 {
			t.Errorf("%d probes in ten seconds", n)
		}
		time.Sleep(time.Second)
	})
}

func TestSlowResolverStaysSuspect(t *testing.T) {
	// It answers all there is, probes too, after a second and a half.
	synctest.Test(t, func(t *testing.T) {
		r, _ := simulate(t, probed(), func(now time.Duration) time.Duration {
			if now < 5*time.Second {
				return 2 * time.Millisecond
			}
			return 1500 * time.Millisecond
		})
		pour(r, 500, 5*time.Second)
		go pour(r, 500, 20*time.Second)
		stateAfter(t, r, Suspect, 100*time.Millisecond)
		for range 190 {
			if got := r.State(); got == Sound || got == Returning {
				t.Errorf("%s", got)
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(20 * time.Second)
	})
}

func TestGoodProbeMeansMoreAfterBadOnes(t *testing.T) {
	for name, tt := range map[string]struct {
		err         error // of probes at first
		least, most time.Duration
	}{
		"probes fail too":     {ErrRefused, 0, 2 * time.Second},
		"only questions fail": {nil, hold(doubtful), hold(doubtful) + 10*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := simulate(t, probed(), takes(time.Millisecond))
				s.err = func() error { return ErrRefused }
				var well atomic.Bool
				r.health.prober.probe = func(context.Context) error {
					if well.Load() {
						return nil
					}
					return tt.err
				}
				start := time.Now()
				for r.State() < Suspect {
					once(r)
				}
				time.Sleep(100 * time.Millisecond)
				well.Store(true)
				stateAfter(t, r, Returning, time.Minute)
				if took := time.Since(start); took < tt.least || took > tt.most {
					t.Errorf("back after %v, want %v to %v", took, tt.least, tt.most)
				}
			})
		})
	}
}
