package dnstest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Script decides what happens to one question. It runs in a goroutine of its own and may call q's methods in any order
// and number.
type Script func(q *Query)

// A answers every question with one A record of that address and TTL 60.
func A(addr string) Script { return Records("60 IN A " + addr) }

// Records answers with these records, each in presentation form without the owner name, which is that of the question.
func Records(rrs ...string) Script {
	return func(q *Query) {
		m := q.Answer()
		for _, s := range rrs {
			rr, err := dns.NewRR(q.Msg.Question[0].Name + " " + s)
			if err != nil {
				panic(fmt.Sprintf("dnstest: record %q: %v", s, err))
			}
			m.Answer = append(m.Answer, rr)
		}
		q.Reply(m)
	}
}

// Rcode answers with no records and this rcode.
func Rcode(rcode int) Script {
	return func(q *Query) {
		m := q.Answer()
		m.Rcode = rcode
		q.Reply(m)
	}
}

// Drop does not answer.
func Drop(*Query) {}

// Truncated answers with TC set and no records.
func Truncated(q *Query) {
	m := q.Answer()
	m.Truncated = true
	q.Reply(m)
}

// WrongID answers with an ID that is not that of the question.
func WrongID(q *Query) {
	m := q.Answer()
	m.Id ^= 0x5555
	q.Reply(m)
}

// WrongQuestion answers a question that was not asked.
func WrongQuestion(q *Query) {
	m := q.Answer()
	m.Question[0].Name = "not-asked.invalid."
	q.Reply(m)
}

// Reset breaks the connection: a TCP one gets an RST, on QUIC it is the stream of the question that is reset. UDP knows no
// connections, so there it is Drop.
func Reset(q *Query) { q.Reset() }

// Close ends the connection in an orderly way. On UDP it is Drop.
func Close(q *Query) { q.Close() }

// Raw sends these bytes with the ID of the question in front. It needs no valid message.
func Raw(afterID []byte) Script {
	return func(q *Query) { q.Send(append([]byte{q.Wire[0], q.Wire[1]}, afterID...)) }
}

// Delay waits before s.
func Delay(d time.Duration, s Script) Script {
	return func(q *Query) {
		if q.Wait(d) {
			s(q)
		}
	}
}

// Several runs all scripts for the same question, in order: a forged reply and then the good one, say.
func Several(scripts ...Script) Script {
	return func(q *Query) {
		for _, s := range scripts {
			s(q)
		}
	}
}

// Turns gives each question the next script, and the last one to all that follow.
func Turns(scripts ...Script) Script {
	var (
		mu   sync.Mutex
		next int
	)
	return func(q *Query) {
		mu.Lock()
		s := scripts[min(next, len(scripts)-1)]
		next++
		mu.Unlock()
		s(q)
	}
}

// Over chooses by the protocol that the question came over ("udp", "tcp", "tls", "https", "https3", "quic"). A protocol
// without a script drops.
func Over(scripts map[string]Script) Script {
	return func(q *Query) {
		if s := scripts[q.Proto]; s != nil {
			s(q)
		}
	}
}

// Named chooses by the name asked for, in lower case. A name without a script gets that of "", or is dropped.
func Named(scripts map[string]Script) Script {
	return func(q *Query) {
		s, ok := scripts[strings.ToLower(q.Msg.Question[0].Name)]
		if !ok {
			s = scripts[""]
		}
		if s != nil {
			s(q)
		}
	}
}
