package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	// clientSockets is how many sockets the questions are spread over: a client socket has 65,536 IDs, and one question may
	// be waited for for patience.
	clientSockets = 4
	// giveUp is how long an answer is waited for after the last question: longer than the budget of a question.
	giveUp = 6 * time.Second
)

// outcome is what became of one question.
type outcome struct {
	sent    time.Duration // since the start of the run
	latency time.Duration // 0: no answer
	rcode   int
}

// generate asks rate questions a second for that long, each at its time, and returns what became of them in the order in
// which they were sent.
func generate(addr string, length time.Duration, rate int) ([]outcome, error) {
	total := int(length.Seconds() * float64(rate))
	g := &generator{outcomes: make([]outcome, total), run: time.Now().UnixNano()}
	var reading sync.WaitGroup
	for range clientSockets {
		c, err := net.Dial("udp", addr)
		if err != nil {
			return nil, err
		}
		g.conns = append(g.conns, &client{Conn: c, waiting: make(map[uint16]int)})
	}
	g.begin = time.Now()
	for _, c := range g.conns {
		reading.Go(func() { g.read(c) })
	}
	err := g.send(rate)
	if err == nil {
		g.drain()
	}
	for _, c := range g.conns {
		_ = c.Close() // ends the reader
	}
	reading.Wait()
	return g.outcomes, err
}

type generator struct {
	begin time.Time
	run   int64 // makes the names of this run its own
	conns []*client

	mu       sync.Mutex // guards outcomes while questions are under way
	outcomes []outcome
	answered int
}

// client is a socket with the questions that were sent on it.
type client struct {
	net.Conn
	mu      sync.Mutex
	next    uint16
	waiting map[uint16]int // index of the question by message ID
}

// send asks every question at its time. Where the process was late, it catches up.
func (g *generator) send(rate int) error {
	gap := time.Second / time.Duration(rate)
	for i := range g.outcomes {
		at := g.begin.Add(time.Duration(i) * gap)
		if d := time.Until(at); d > 0 {
			time.Sleep(d)
		}
		c := g.conns[i%len(g.conns)]
		m := new(dns.Msg).SetQuestion(fmt.Sprintf("q%d-%x.failover.test.", i, g.run), dns.TypeA)
		c.mu.Lock()
		m.Id = c.next
		c.next++
		c.waiting[m.Id] = i
		c.mu.Unlock()
		wire, err := m.Pack()
		if err != nil {
			return err
		}
		g.mu.Lock()
		g.outcomes[i].sent = time.Since(g.begin)
		g.mu.Unlock()
		_, _ = c.Write(wire) // a refused one is one without an answer
	}
	return nil
}

func (g *generator) read(c *client) {
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			if isClosed(err) {
				return
			}
			continue // the server was not there
		}
		if n < 12 {
			continue
		}
		id := binary.BigEndian.Uint16(buf)
		c.mu.Lock()
		i, ok := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if !ok {
			continue
		}
		now := time.Since(g.begin)
		g.mu.Lock()
		g.outcomes[i].latency = max(now-g.outcomes[i].sent, 1)
		g.outcomes[i].rcode = int(buf[3] & 0xf)
		g.answered++
		g.mu.Unlock()
	}
}

// drain waits until every question has its answer, or none is to be expected any more.
func (g *generator) drain() {
	for deadline := time.Now().Add(giveUp); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		g.mu.Lock()
		all := g.answered == len(g.outcomes)
		g.mu.Unlock()
		if all {
			return
		}
	}
}
