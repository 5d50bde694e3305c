package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// behaviour is what an upstream does with questions.
type behaviour int32

const (
	sound        behaviour = iota
	silent                 // neither datagrams nor what comes on a connection get an answer
	slow                   // the answer comes after slowness
	servfailHalf           // every other question is answered SERVFAIL
	lossy                  // a fifth of the datagrams is lost
	resets                 // connections are reset when a question comes
)

const (
	slowness = 1500 * time.Millisecond
	lossRate = 0.2
)

// scripted is an upstream that answers every question for A with one address, over UDP and TCP, and counts.
type scripted struct {
	addr  string
	pc    *net.UDPConn
	l     net.Listener
	state atomic.Int32
	start atomic.Int64 // of the run, in nanoseconds; queries before it do not count
	odd   atomic.Uint64

	mu      sync.Mutex
	seen    []int // queries by the second of the run
	conns   map[net.Conn]bool
	closed  bool
	serving sync.WaitGroup
}

// startScripted listens on a port of loopback that is free for both transports.
func startScripted() (*scripted, error) {
	var last error
	for range 10 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		at := l.Addr().(*net.TCPAddr)
		pc, err := net.ListenUDP("udp", &net.UDPAddr{IP: at.IP, Port: at.Port})
		if err != nil {
			last = errors.Join(err, l.Close())
			continue
		}
		// A generator on the same core must not make the kernel drop what the upstream would have answered.
		if err := pc.SetReadBuffer(4 << 20); err != nil {
			return nil, errors.Join(err, l.Close(), pc.Close())
		}
		s := &scripted{addr: l.Addr().String(), pc: pc, l: l, conns: make(map[net.Conn]bool)}
		s.serving.Go(s.datagrams)
		s.serving.Go(s.accept)
		return s, nil
	}
	return nil, fmt.Errorf("no port free for both UDP and TCP: %w", last)
}

func (s *scripted) begin(t time.Time)    { s.start.Store(t.UnixNano()) }
func (s *scripted) behave(b behaviour)   { s.state.Store(int32(b)) }
func (s *scripted) behaviour() behaviour { return behaviour(s.state.Load()) }

// queries returns how many came in each second of the run.
func (s *scripted) queries() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), s.seen...)
}

func (s *scripted) count() {
	start := s.start.Load()
	if start == 0 {
		return
	}
	i := int((time.Now().UnixNano() - start) / int64(time.Second))
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.seen) <= i {
		s.seen = append(s.seen, 0)
	}
	s.seen[i]++
}

func (s *scripted) datagrams() {
	buf := make([]byte, 4096)
	for {
		n, from, err := s.pc.ReadFromUDPAddrPort(buf)
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue // what ICMP had to say of a datagram before
		}
		s.count()
		b := s.behaviour()
		if b == silent || b == lossy && rand.Float64() < lossRate {
			continue
		}
		reply := s.answer(buf[:n], b)
		if reply == nil {
			continue
		}
		send := func() { _, _ = s.pc.WriteToUDPAddrPort(reply, from) } // whoever asked may have gone
		if b == slow {
			time.AfterFunc(slowness, send)
			continue
		}
		send()
	}
}

func (s *scripted) accept() {
	for {
		c, err := s.l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		closed := s.closed
		if !closed {
			s.conns[c] = true
			s.serving.Go(func() { s.stream(c) })
		}
		s.mu.Unlock()
		if closed {
			_ = c.Close()
		}
	}
}

func (s *scripted) stream(c net.Conn) {
	defer func() {
		_ = c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	var head [2]byte
	buf := make([]byte, 4096)
	for {
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint16(head[:]))
		if n > len(buf) {
			return
		}
		if _, err := io.ReadFull(c, buf[:n]); err != nil {
			return
		}
		s.count()
		b := s.behaviour()
		if b == resets {
			_ = c.(*net.TCPConn).SetLinger(0) // so that closing sends RST
			return
		}
		if b == silent {
			continue
		}
		reply := s.answer(buf[:n], b)
		if reply == nil {
			return
		}
		framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...) // a reply fits 16 bits
		if _, err := c.Write(framed); err != nil {
			return
		}
	}
}

// answer returns the reply on the wire, nil for what is no question.
func (s *scripted) answer(query []byte, b behaviour) []byte {
	m := new(dns.Msg)
	if m.Unpack(query) != nil || len(m.Question) != 1 {
		return nil
	}
	r := new(dns.Msg).SetReply(m)
	r.RecursionAvailable = true
	q := m.Question[0]
	switch {
	case b == servfailHalf && q.Qtype == dns.TypeA && s.odd.Add(1)%2 == 0:
		r.Rcode = dns.RcodeServerFailure
	case q.Qtype == dns.TypeA:
		r.Answer = []dns.RR{&dns.A{
			Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60},
			A:   net.IPv4(192, 0, 2, 1),
		}}
	}
	wire, err := r.Pack()
	if err != nil {
		return nil
	}
	return wire
}

func (s *scripted) close() {
	_, _ = s.pc.Close(), s.l.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}
