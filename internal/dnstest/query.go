package dnstest

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/miekg/dns"
	"github.com/quic-go/quic-go"
)

// Query is a question that a server got, and the way back to whoever asked.
type Query struct {
	Msg  *dns.Msg
	Wire []byte
	// Proto is "udp", "tcp", "tls", "https", "https3" or "quic".
	Proto string
	// Number counts the questions over Proto, from 1. Conn counts the connections over Proto, from 1; a UDP connection is
	// an address and port of the client.
	Number, Conn int
	Client       netip.AddrPort

	// Request, Header of the response and Status, which writes the head of the response, are for HTTP only.
	Request *http.Request
	Header  http.Header
	Status  func(code int)
	// Stream is for QUIC only: what a script writes to it is not framed.
	Stream *quic.Stream

	ctx   context.Context
	send  func([]byte) // the whole message, without a length before it
	close func()
	reset func()
}

// Answer returns an empty positive reply to the question, with an OPT record when the question has one.
func (q *Query) Answer() *dns.Msg {
	m := new(dns.Msg)
	m.SetReply(q.Msg)
	m.RecursionAvailable = true
	if opt := q.Msg.IsEdns0(); opt != nil {
		m.SetEdns0(1232, opt.Do())
	}
	return m
}

// Reply sends m. A message that cannot be packed is a fault of the script.
func (q *Query) Reply(m *dns.Msg) {
	wire, err := m.Pack()
	if err != nil {
		panic("dnstest: reply: " + err.Error())
	}
	q.Send(wire)
}

// Send sends bytes as one message.
func (q *Query) Send(wire []byte) { q.send(wire) }

// Wait returns true after d, or false at once when the server ends.
func (q *Query) Wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-q.ctx.Done():
		return false
	}
}

// Done is closed when the server ends: a script that hangs waits for it.
func (q *Query) Done() <-chan struct{} { return q.ctx.Done() }

// Reset breaks the connection, see the script of that name.
func (q *Query) Reset() { q.reset() }

// Close ends the connection, see the script of that name.
func (q *Query) Close() { q.close() }
