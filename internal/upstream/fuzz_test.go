package upstream

import (
	"context"
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// seeds are the bytes behind the ID of replies to A example.org.
func seeds(f *testing.F) {
	f.Helper()
	for _, wire := range [][]byte{
		reply(1, goodA), reply(3, goodA, badCAA, goodA), reply(1, badMX), reply(1, shortA), reply(9, goodA), reply(0),
		reply(1, "c00c 0006 0001 0000003c 0000"), reply(1, "00 0029 04d0 01008000 0004 000a0000"), {0x81, 0x85}, nil,
	} {
		f.Add(wire)
	}
}

// FuzzUnpack wants a reply of any bytes to become a message that can be sent on as the answer to the question, or to be
// malformed.
func FuzzUnpack(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, tail []byte) { unpackAnything(t, append([]byte{0, 0}, tail...)) })
}

// FuzzRecords is FuzzUnpack for replies that belong to the question, whatever comes behind it.
func FuzzRecords(f *testing.F) {
	for _, records := range []string{goodA, badCAA, badMX, shortA, "c00c 0006 0001 0000003c 0000"} {
		wire := reply(1, records)
		f.Add(byte(0), byte(1), byte(0), byte(0), wire[len(reply(1)):])
	}
	opt := reply(1, "00 0029 04d0 01008000 0004 000a0000")
	f.Add(byte(3), byte(0), byte(0), byte(1), opt[len(reply(1)):])
	f.Fuzz(func(t *testing.T, rcode, answer, ns, extra byte, records []byte) {
		wire := append([]byte{0, 0}, reply(answer)...)
		wire[3] = rcode
		wire[9], wire[11] = ns, extra
		unpackAnything(t, append(wire, records...))
	})
}

func unpackAnything(t *testing.T, wire []byte) {
	for _, q := range []*dns.Msg{question("eXample.org."), withEDNS(question("eXample.org."))} {
		for _, datagram := range []bool{true, false} {
			query, qend, err := pack(nil, q, packing{})
			if err != nil {
				t.Fatal(err)
			}
			if !matches(query, qend, wire) {
				continue
			}
			m, _, err := unpack(wire, qend, q, datagram)
			if err != nil {
				if Reason(err) != "malformed" {
					t.Errorf("error outside of the closed set: %v", err)
				}
				continue
			}
			if m.Id != q.Id || !m.Response || len(m.Question) != 1 || m.Question[0] != q.Question[0] {
				t.Errorf("an answer to something else:\n%v", m)
			}
			if q.IsEdns0() == nil && m.IsEdns0() != nil {
				t.Errorf("an OPT record for somebody who knows no EDNS:\n%v", m)
			}
			if _, err := m.Pack(); err != nil {
				t.Errorf("cannot be sent on: %v\n%v", err, m)
			}
		}
	}
}

// FuzzDatagrams wants whatever arrives at a socket to answer the question that it is about, or none.
func FuzzDatagrams(f *testing.F) {
	f.Add(append([]byte{0, 1}, reply(1, goodA)...))
	f.Add([]byte{0, 2, 0x80, 0})
	meters := newMeters("fuzz", "fuzz", idle())
	f.Fuzz(func(t *testing.T, datagram []byte) {
		u := &udp{health: idle(), mismatched: meters.mismatches("udp")}
		s := &udpSocket{u: u, waiting: make(map[uint16]*exchange)}
		var asked [2]*exchange
		for i, name := range []string{"example.org.", "example.net."} {
			x := newExchange()
			x.query, x.qend, _ = pack(x.query, question(name), packing{})
			x.setID(uint16(i + 1))
			s.waiting[x.id], asked[i] = x, x
		}
		s.deliver(datagram)
		for _, x := range asked {
			select {
			case <-x.done:
				if binary.BigEndian.Uint16(datagram) != x.id || !matches(x.query, x.qend, datagram) {
					t.Errorf("%x was taken for the answer to question %d", datagram, x.id)
				}
			default:
				if s.waiting[x.id] != x {
					t.Errorf("question %d got lost", x.id)
				}
			}
		}
	})
}

// FuzzStream wants a connection that brings any bytes to end without a trace, and the question on it to be answered by
// its own reply or to fail with one of our errors.
func FuzzStream(f *testing.F) {
	framed := func(tail []byte) []byte {
		return append(binary.BigEndian.AppendUint16(nil, uint16(len(tail)+2)), append([]byte{0, 0}, tail...)...)
	}
	f.Add(framed(reply(1, goodA)))
	f.Add(append(framed(reply(1, badMX)), framed(reply(1, goodA))...))
	f.Add([]byte{0xff, 0xff, 0})
	f.Add([]byte{0, 0, 0, 0})
	meters := newMeters("fuzz", "fuzz", idle())
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := newStreams(Config{Expire: time.Minute}, meters)
		near, far := net.Pipe()
		c := newStreamConn(s, near)
		x := newExchange()
		q := question("example.org.")
		x.query, x.qend, _ = pack(x.query, q, packing{})
		if !c.join(x) {
			t.Fatal("a new connection takes no questions")
		}
		go func() {
			defer far.Close()
			var query [64]byte
			if _, err := far.Read(query[:]); err != nil {
				return
			}
			if len(stream) >= 4 { // replies have the ID of the question when they say zero
				copy(stream[2:4], query[2:4])
			}
			far.Write(stream)
		}()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		switch err := c.ask(ctx, x); {
		case err == nil:
			if !matches(x.query, x.qend, x.reply) {
				t.Errorf("got %x", x.reply)
			}
		case Reason(err) == "other", Reason(err) == "timeout":
			t.Errorf("failed with %v", err)
		}
		c.retire()
		c.running.Wait()
		s.close()
	})
}
