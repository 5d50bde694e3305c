package upstream

import (
	"sync"
	"time"
)

const (
	// maxAbandoned is how many questions are remembered whose askers have left. More are not needed to judge by.
	maxAbandoned = 64
	// lostAfter is how long a reply to one of those may take until it counts as lost.
	lostAfter = 500 * time.Millisecond
)

// abandoned remembers questions that were given up before their replies came, because somebody else had a reply sooner.
// Without it an upstream that loses datagrams would look well: the questions that suffer are just those that are asked
// elsewhere as well, and nobody waits to see what becomes of them here.
type abandoned struct {
	mu   sync.Mutex // guards the following
	list [maxAbandoned]orphan
	next int
}

// orphan is a question that nobody waits for. The zero value is none.
type orphan struct {
	socket *udpSocket
	id     uint16
	sent   time.Time
}

func (a *abandoned) add(o orphan) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list[a.next%maxAbandoned] = o
	a.next++
}

// take removes the orphan that a late reply belongs to, and returns when it was sent.
func (a *abandoned) take(s *udpSocket, id uint16) (sent time.Time, found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, o := range a.list {
		if o.socket == s && o.id == id {
			a.list[i] = orphan{}
			return o.sent, true
		}
	}
	return time.Time{}, false
}

// expire removes those that were sent before limit, and returns how many of them were sent after since.
func (a *abandoned) expire(limit, since time.Time) (lost int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, o := range a.list {
		if o.socket == nil || o.sent.After(limit) {
			continue
		}
		a.list[i] = orphan{}
		if o.sent.After(since) {
			lost++
		}
	}
	return lost
}

// abandon notes that nobody waits for the reply to x any more, which is in no table and was sent once.
func (u *udp) abandon(s *udpSocket, x *exchange) {
	if !x.resent && !x.claimed.Load() {
		u.abandoned.add(orphan{socket: s, id: x.id, sent: x.sent})
	}
}

// orphaned takes in a reply that nobody waits for. The lock of s is held.
func (u *udp) orphaned(s *udpSocket, id uint16) {
	now := time.Now()
	u.health.hear(u.health.at(now))
	if sent, found := u.abandoned.take(s, id); found {
		u.health.replies.add(now.Sub(sent))
		u.health.losses.add(false)
	}
}

// countLost is for those whose replies should have come by now.
func (u *udp) countLost() {
	h := u.health
	lost := u.abandoned.expire(time.Now().Add(-lostAfter), h.base.Add(time.Duration(h.returned.Load())))
	for range lost {
		h.losses.add(true)
	}
	if lost > 0 {
		h.review()
	}
}
