package forward

import (
	"sync/atomic"
	"time"

	"github.com/trident-dns/trident/internal/upstream"
)

// steadiness is how often the replies of an upstream are late by its own measure. Five in a hundred are, by definition of
// the measure; more are when the upstream or the way to it has got worse: datagrams are lost, or everything has become
// slow. No single question tells, and none has failed, so health says nothing of it. The zero value is steady.
type steadiness struct {
	late atomic.Int64 // decaying share of the late ones, in parts of whole; a lost update loses one outcome
	out  atomic.Int64 // until when the upstream is unsteady, from epoch
	runs atomic.Int64 // how often in a row it has been found to be so
}

const (
	whole = 1 << 20
	// An outcome counts for 1/64 of the share. With the usual five in a hundred the share then stays below tooLate by five
	// times its deviation, while one in five takes it there within some ninety questions.
	weight  = 64
	tooLate = whole * 15 / 100
	// relapsed is what the share is taken to be after a spell: another one does not take as many questions to begin.
	relapsed = whole / 10
)

// An upstream is spared for so long the first time, and twice as long each time that it is not better afterwards.
const (
	firstSpell = 8 * time.Second
	maxSpell   = 64 * time.Second
)

// note takes in whether the reply to a question was late, and tells whether too many were.
func (s *steadiness) note(late bool) (tooMany bool) {
	old := s.late.Load()
	next := nextShare(old, late)
	if next != old {
		s.late.Store(next)
	}
	return next > tooLate
}

// spare begins a spell in which the upstream is asked only if there is no other, unless it is in one. now counts from epoch.
func (s *steadiness) spare(now time.Duration) {
	out := s.out.Load()
	if now < time.Duration(out) {
		return
	}
	runs := s.runs.Load() + 1
	if now-time.Duration(out) > maxSpell {
		runs = 0
	}
	if s.out.CompareAndSwap(out, int64(now+spell(runs))) {
		s.runs.Store(runs)
		s.late.Store(relapsed)
	}
}

// steady tells whether nothing speaks against the upstream at now.
func (s *steadiness) steady(now time.Duration) bool {
	out := s.out.Load()
	return out == 0 || now >= time.Duration(out)
}

func nextShare(share int64, late bool) int64 {
	if late {
		return share + (whole-share)/weight
	}
	return share - share/weight
}

func spell(runs int64) time.Duration { return min(firstSpell<<min(runs, 10), maxSpell) }

// judge takes in whether the reply of m was late, and spares m if it is late much more often than somebody else. What
// makes all late, such as a stop of this very process, tells nothing of one.
func (p *pursuit) judge(m *member, late bool) {
	if tooMany := m.note(late); !tooMany || !late {
		return
	}
	share, now := m.late.Load(), p.now()
	for _, other := range p.members {
		if other.State() < upstream.Suspect && other.steady(now) && 2*other.late.Load() < share {
			m.spare(now)
			return
		}
	}
}
