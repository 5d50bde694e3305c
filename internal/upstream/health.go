package upstream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// slow is what a reply may take at most to count as one that helps: as long as a probe may.
const slow = probeTimeout

// health is what the outcomes of questions and probes tell of one resolver. A question costs it a handful of atomic
// operations and no reading of the clock; everything else happens when something goes wrong, and in tick.
type health struct {
	base     time.Time // times below count from here
	inFlight atomic.Int64
	most     int64 // in flight
	pace     pace
	cost     atomic.Int64 // decaying mean of what questions take, failed ones included, in nanoseconds
	late     atomic.Int64 // 95th percentile of the replies, in nanoseconds; 0: unknown
	median   atomic.Int64
	replies  spread

	failures window
	losses   window

	// heard is when the last reply came, unanswered how many questions went out since, and silentFrom when the first of
	// those did.
	heard      atomic.Int64
	unanswered atomic.Int64
	silentFrom atomic.Int64
	watching   atomic.Bool // tick is due
	silent     atomic.Bool // nothing came back to several questions
	returned   atomic.Int64
	asked      atomic.Int64 // when the probe under way went out; 0: there is none
	alarm      atomic.Pointer[alarm]
	episode    atomic.Bool // the alarm for the present trouble has been given
	prober     *prober
	often      func() // what else there is to do every beat; nil: nothing

	mu      sync.Mutex // guards the following; held when something changes for the worse or the better
	closed  bool
	timer   *time.Timer   // of tick
	due     time.Duration // when tick should run
	looked  time.Duration // when the quantiles were worked out
	began   time.Duration // when the present or the last trouble did
	relapse int           // how often trouble came back soon
	doubt   int           // added to that: how little a probe says about the trouble
}

// alarm ends when the resolver becomes suspect.
type alarm struct {
	context.Context
	ring context.CancelFunc
}

func newAlarm() *alarm {
	ctx, cancel := context.WithCancel(context.Background())
	return &alarm{ctx, cancel}
}

func newHealth(c Config) *health {
	h := &health{
		base:     time.Now().Add(-1), // so that no time is zero
		most:     int64(c.maxInFlight()),
		pace:     newPace(c.RateLimit, c.RateBurst),
		began:    -calm, // the first trouble is no relapse
		failures: window{size: failureWindow},
		losses:   window{size: lossWindow},
	}
	h.alarm.Store(newAlarm())
	return h
}

func (h *health) at(t time.Time) time.Duration { return t.Sub(h.base) }
func (h *health) now() time.Duration           { return time.Since(h.base) }

// begin lets a question in, or says which bound it is over. After nil the caller must call end.
func (h *health) begin(start time.Time) error {
	now := h.at(start)
	if h.inFlight.Add(1) > h.most {
		h.inFlight.Add(-1)
		return errInFlight
	}
	if !h.pace.take(now) {
		h.inFlight.Add(-1)
		return errRate
	}
	if h.unanswered.Add(1) == 1 {
		h.silentFrom.Store(int64(now))
	}
	if !h.watching.Load() {
		h.watch(now)
	}
	return nil
}

func (h *health) end() { h.inFlight.Add(-1) }

// answered notes a reply. lost: the first transmission was in vain. bad: its rcode says that the resolver is sick.
func (h *health) answered(a *Answer, lost, bad bool) {
	took := a.Received.Sub(a.Sent)
	h.hear(h.at(a.Received))
	h.replies.add(took)
	h.charge(took)
	h.losses.add(lost)
	bad = bad || took > slow
	h.failures.add(bad)
	switch {
	case bad || lost:
		h.review()
	case h.silent.Load() || h.episode.Load():
		h.silent.Store(false)
		h.settle()
	}
}

// failed notes an attempt that the resolver is to blame for.
func (h *health) failed(cost time.Duration) {
	h.charge(cost)
	h.failures.add(true)
	h.review()
}

// gaveUp notes an attempt that was ended by whoever asked, after so long: the reply would have taken longer still.
func (h *health) gaveUp(after time.Duration) {
	if int64(after) > h.cost.Load() {
		h.charge(after)
	}
}

// hear notes that something came back at now.
func (h *health) hear(now time.Duration) {
	h.heard.Store(int64(now))
	h.unanswered.Store(0)
}

// charge puts a sample into the mean. A lost update loses one sample, which does not matter.
func (h *health) charge(sample time.Duration) {
	old := h.cost.Load()
	if old == 0 {
		h.cost.Store(max(int64(sample), 1))
		return
	}
	h.cost.Store(max(old+(int64(sample)-old)/8, 1))
}

// isSuspect is a function of what is in the windows and of silence: the order of outcomes does not matter.
func (h *health) isSuspect() bool {
	again := h.isReturning()
	return h.silent.Load() || tooManyFailures(h.failures.ring(), again) || tooManyLosses(h.losses.ring(), again)
}

func (h *health) state() State {
	switch {
	case h.prober.down():
		return Down
	case h.isSuspect():
		return Suspect
	case h.isReturning():
		return Returning
	}
	return Sound
}

// isReturning reads the clock only after a return.
func (h *health) isReturning() bool { return h.returned.Load() != 0 && h.sinceReturn() < ramp }

// sinceReturn forgets the return when it is over, so that the clock is left alone afterwards.
func (h *health) sinceReturn() time.Duration {
	at := h.returned.Load()
	since := h.now() - time.Duration(at)
	if since >= ramp {
		h.returned.CompareAndSwap(at, 0)
	}
	return since
}

// review gives the alarm if the resolver has become suspect.
func (h *health) review() {
	if h.isSuspect() && !h.episode.Load() {
		h.trouble()
	}
}

// trouble is the beginning of being suspect: questions under way learn of it, and probing starts.
func (h *health) trouble() {
	h.mu.Lock()
	if h.closed || h.episode.Swap(true) {
		h.mu.Unlock()
		return
	}
	now := h.now()
	h.relapse = relapses(h.relapse, now-h.began)
	h.began, h.doubt = now, doubtful
	if h.silent.Load() {
		h.doubt = 0
	}
	old := h.alarm.Swap(newAlarm())
	h.mu.Unlock()
	old.ring()
	h.prober.start()
}

// settle ends the trouble if real answers have done so.
func (h *health) settle() {
	if !h.isSuspect() {
		h.episode.Store(false)
	}
}

// welcome lets the resolver back in after a good probe, or after a while when there are none, unless it has only just
// come back the last time. It reports whether it did.
func (h *health) welcome(took time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isSuspect() && !h.episode.Load() {
		return true // it was only to be seen whether it is there
	}
	now := h.now()
	if now-h.began < hold(h.relapse+h.doubt) {
		return false
	}
	h.failures.state.Store(0)
	h.losses.state.Store(0)
	h.silent.Store(false)
	h.silentFrom.Store(int64(now))
	h.cost.Store(max(int64(took), 1))
	h.returned.Store(int64(now))
	h.episode.Store(false)
	return true
}

// inVain notes a question that has waited for so long for nothing. Where there are no probes to tell a resolver that is
// away from one that has trouble with just this question, it takes a second one to which nothing came.
func (h *health) inVain(took time.Duration) {
	if h.prober.maxFails == 0 && h.unanswered.Load() > 1 && time.Duration(h.heard.Load()) < h.now()-took {
		h.nobodyHome()
	}
}

// nobodyHome is what a probe says that has waited in vain while nothing else came either.
func (h *health) nobodyHome() {
	if !h.silent.Swap(true) {
		h.trouble()
	}
}

// confirmed is what a failed probe says: the next good one will mean something.
func (h *health) confirmed() {
	h.mu.Lock()
	h.doubt = 0
	h.mu.Unlock()
}

// held is how long the resolver stays out because it has relapsed.
func (h *health) held() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return hold(h.relapse + h.doubt)
}

// close stops tick and probing for good. What is known of the resolver stays.
func (h *health) close() {
	h.mu.Lock()
	h.closed = true
	if h.timer != nil {
		h.timer.Stop()
	}
	h.mu.Unlock()
	h.prober.close()
	h.alarm.Load().ring()
}
