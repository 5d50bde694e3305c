package forward

import "github.com/trident-dns/trident/internal/upstream"

// lookout is which upstreams are worth asking at the moment, in three classes. Those that are down are in none.
type lookout struct {
	sound set // nothing speaks against them
	spare set // well, but often late, or just back and full for now
	poor  set // suspect: better than nobody
}

// look sorts the upstreams by what they are good for. Where the order of the upstreams is what matters, there are no spare
// ones.
func (p *pursuit) look() (l lookout) {
	ordered := p.f.block.policy == sequential
	now := p.now()
	for i, m := range p.members {
		switch s := m.State(); {
		case s == upstream.Down:
		case s == upstream.Suspect:
			l.poor.add(i)
		case ordered, s == upstream.Sound && m.steady(now), s == upstream.Returning && m.Admits():
			l.sound.add(i)
		default:
			l.spare.add(i)
		}
	}
	return l
}

// choose picks the upstream to ask next; ok is false when there is none. Upstreams that are sound come first, then those
// that are spare, and then those that are suspect, each once; and then again from the beginning as long as attempts are
// left, unless there is a reply to hand on by then, or all that were asked had reached a limit. When all are down, health
// checking is taken to be what is broken, and one of them is asked at random, and when it is silent another time: they may
// be back by then.
func (p *pursuit) choose() (i int, ok bool) {
	l := p.look()
	if l.sound == (set{}) && l.spare == (set{}) {
		p.hurry()
	}
	if i, ok = p.pick(l); ok {
		return i, true
	}
	if p.reply != nil {
		return 0, false
	}
	if l != (lookout{}) {
		if p.attempts == p.before {
			return 0, false
		}
		p.asked, p.before = set{}, p.attempts
		p.passes++
		return p.pick(l)
	}
	if p.err != nil && limited(p.err) {
		return 0, false
	}
	if !p.desperate {
		p.desperate = true
		allDownCount.Inc()
		if p.f.block.failfast {
			return 0, false
		}
	}
	var all set
	for i := range p.members {
		all.add(i)
	}
	return random.choose(all, 0, p.members), true
}

// pick applies the policy to those that have not been asked in this pass.
func (p *pursuit) pick(l lookout) (i int, ok bool) {
	fresh := l.sound.without(p.asked)
	if fresh == (set{}) {
		fresh = l.spare.without(p.asked)
	}
	if fresh == (set{}) {
		fresh = l.poor.without(p.asked)
	}
	if fresh == (set{}) {
		return 0, false
	}
	return p.f.block.policy.choose(fresh, p.turn, p.members), true
}

// another picks one that is well and has not been asked, for a question that waits for somebody else.
func (p *pursuit) another() (i int, ok bool) {
	l := p.look()
	return p.pick(lookout{sound: l.sound, spare: l.spare})
}

// hurry says that all depends on upstreams that are not well, so that none of them is out for longer than it has to be.
func (p *pursuit) hurry() {
	for _, m := range p.members {
		if m.State() >= upstream.Suspect {
			m.Hurry()
		}
	}
}
