package upstream

import "time"

const (
	// beat is how often silence is looked for while questions wait.
	beat = 20 * time.Millisecond
	// minSilence is the shortest silence that means anything: a resolver, or the path to it, may stop for a moment.
	minSilence = 60 * time.Millisecond
	// coldSilence is the shortest one of a resolver of which nothing is known yet.
	coldSilence = 150 * time.Millisecond
	// surely is how many questions without a reply leave no doubt. Fewer may all be for the one zone whose servers are
	// slow, as those of one page are: a probe, which the resolver answers from its cache, has to go unanswered as well.
	surely = 16
	// unprobed is how many must do where there are no probes, and stretch how many times longer they have to wait.
	unprobed = 4
	stretch  = 3
	// stall is by how much tick may be late. When this process itself stood still, replies wait to be read.
	stall = 40 * time.Millisecond
	// lookEvery is how often the quantiles are worked out anew.
	lookEvery = 100 * time.Millisecond
)

// patience is how long nothing may come back: twice what all but the slowest replies take. One of which nothing is known
// yet may be on the other side of the world, or have to ask others for all that it is asked.
func patience(late time.Duration) time.Duration {
	if late == 0 {
		return coldSilence
	}
	return min(max(2*late, minSilence), slow)
}

// hush is what is known of a silence.
type hush struct {
	lasted     time.Duration // since the first question to which nothing came, or the last reply
	unanswered int64         // questions that have been asked in it and are still waiting
	probed     time.Duration // for how long a probe has been waiting in it; 0: there is none
	probes     bool          // probes may be sent
}

// verdict tells whether the silence means that the resolver is away, and whether a probe should find out.
func (q hush) verdict(patience time.Duration) (suspect, ask bool) {
	switch {
	case q.unanswered == 0 || q.lasted < patience:
		return false, false
	case q.unanswered >= surely:
		return true, false
	case !q.probes:
		return q.unanswered >= unprobed && q.lasted >= stretch*patience, false
	}
	return q.probed >= patience, q.probed == 0
}

// watch has tick run soon.
func (h *health) watch(now time.Duration) {
	if !h.watching.CompareAndSwap(false, true) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.schedule(now)
}

// schedule is called with the lock held.
func (h *health) schedule(now time.Duration) {
	if h.closed {
		return
	}
	h.due = now + beat
	if h.timer == nil {
		h.timer = time.AfterFunc(beat, h.tick)
		return
	}
	h.timer.Reset(beat)
}

// tick runs every beat while questions wait for replies.
func (h *health) tick() {
	if h.often != nil {
		h.often()
	}
	if h.look() {
		h.trouble()
	}
}

// look tells whether the resolver has just been found silent. It works out the quantiles while it is about it.
func (h *health) look() (found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	now := h.now()
	if now-h.looked >= lookEvery {
		h.looked = now
		median, late := h.replies.quantiles(now)
		h.median.Store(int64(median))
		h.late.Store(int64(late))
	}
	if now-h.due > stall {
		h.silentFrom.Store(int64(now))
	}
	if h.unanswered.Load() == 0 || h.inFlight.Load() == 0 {
		h.watching.Store(false)
		// A question that came in between saw that somebody was watching.
		if h.unanswered.Load() == 0 || h.inFlight.Load() == 0 || !h.watching.CompareAndSwap(false, true) {
			return false
		}
	}
	suspect, ask := h.hush(now).verdict(patience(time.Duration(h.late.Load())))
	if ask {
		h.prober.start()
	}
	h.schedule(now)
	return suspect && !h.silent.Swap(true)
}

func (h *health) hush(now time.Duration) hush {
	from := max(h.silentFrom.Load(), h.heard.Load())
	q := hush{
		lasted:     now - time.Duration(from),
		unanswered: min(h.unanswered.Load(), h.inFlight.Load()),
		probes:     h.prober.maxFails > 0,
	}
	if asked := h.asked.Load(); asked > 0 {
		q.probed = max(now-time.Duration(max(asked, from)), 1)
	}
	return q
}
