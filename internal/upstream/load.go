package upstream

import "time"

const (
	// burstConns is how many connections a burst of questions opens. A peer that answers in any order needs no more.
	burstConns = 4
	// burstPerConn is how many questions in flight are worth another connection of those.
	burstPerConn = 64
	// maxConns bounds the connections to a peer that answers one question after the other, for whom a connection is what
	// a worker is for others.
	maxConns = 64
	// slowPerConn questions in flight are worth another connection to such a peer when they wait for each other: when an
	// exchange takes slowLatency, and slowFactor times what it took when there was no queue.
	slowPerConn = 2
	slowLatency = 20 * time.Millisecond
	slowFactor  = 2
	// noQuota stands for any number of questions on one connection.
	noQuota = 1 << 20
)

// load says how busy the connections to a peer are.
type load struct {
	conns, dials int
	least        int           // questions in flight, or waiting for a dial, where there are fewest
	anyTurn      bool          // the peer is known to answer in any order
	latency      time.Duration // mean of the exchanges of late, zero when there was none
	fastest      time.Duration // the shortest exchange so far
	quota        int           // questions that the peer answers on one connection
}

// wantsMore tells whether another connection should be made. More than one at a time is only made for a burst.
func (l load) wantsMore() bool {
	switch total := l.conns + l.dials; {
	case total == 0:
		return true
	case total < burstConns && l.least >= burstPerConn, total < maxConns && l.least >= l.quota:
		return true
	case total < maxConns && l.dials == 0:
		return !l.anyTurn && l.least >= slowPerConn && l.latency >= max(slowLatency, slowFactor*l.fastest)
	}
	return false
}
