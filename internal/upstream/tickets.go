package upstream

import (
	"crypto/tls"
	"sync"
)

// maxTickets is how many TLS sessions can be resumed at once: a burst opens burstConns connections, and servers hand
// out two tickets for each handshake or so.
const maxTickets = 8

// tickets keeps the session tickets of one resolver, the newest last. Each is used once as long as there are others, so
// that nobody on the path can tell that two connections are from the same client (RFC 8446, appendix C.4); the last one
// stays, since a server that hands out few should not cost a full handshake.
type tickets struct {
	mu   sync.Mutex
	kept []*tls.ClientSessionState
}

// Get implements tls.ClientSessionCache. There is one server, and so one key.
func (t *tickets) Get(string) (*tls.ClientSessionState, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.kept)
	if n == 0 {
		return nil, false
	}
	ticket := t.kept[n-1]
	if n > 1 {
		t.kept[n-1] = nil
		t.kept = t.kept[:n-1]
	}
	return ticket, true
}

// Put implements tls.ClientSessionCache. Nil means that the ticket got last was no good: then its siblings are not
// either.
func (t *tickets) Put(_ string, ticket *tls.ClientSessionState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ticket == nil {
		t.kept = nil
		return
	}
	if len(t.kept) == maxTickets {
		copy(t.kept, t.kept[1:])
		t.kept = t.kept[:maxTickets-1]
	}
	t.kept = append(t.kept, ticket)
}
