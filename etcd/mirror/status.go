package mirror

import "time"

// State says how far a copy can be trusted.
type State uint8

const (
	// Starting means that there is no copy yet.
	Starting State = iota
	// Stale means that there is a copy, and that etcd has not confirmed it for longer than Timing.StaleAfter.
	Stale
	// Fresh means that etcd has confirmed the copy lately.
	Fresh
)

func (s State) String() string {
	switch s {
	case Starting:
		return "starting"
	case Stale:
		return "stale"
	case Fresh:
		return "fresh"
	}
	return "unknown"
}

// Status of a feed at one moment.
type Status struct {
	State State
	// Position is what the copy is a copy of. A quiet range stays at the revision that it was last known to be equal to.
	Position Position
	// Contact is when etcd last confirmed the copy: by a list, a change, or an answer about progress. Zero: never.
	Contact time.Time
	// Err is why the feed is not watching, nil while it is.
	Err error
}

// Lag is the time for which etcd has not confirmed the copy, 0 when it never did.
func (s Status) Lag(now time.Time) time.Duration {
	if s.Contact.IsZero() {
		return 0
	}
	return max(0, now.Sub(s.Contact))
}

func (s Status) worseThan(o Status) bool {
	if s.State != o.State {
		return s.State < o.State
	}
	return s.Contact.Before(o.Contact)
}

// stateAt is the state of a copy whose position is known when hasCopy, and which was last confirmed at contact.
func stateAt(hasCopy bool, contact, now time.Time, staleAfter time.Duration) State {
	switch {
	case !hasCopy:
		return Starting
	case contact.IsZero() || now.Sub(contact) > staleAfter:
		return Stale
	}
	return Fresh
}
