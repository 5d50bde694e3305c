package forward

import (
	"context"
	"net"

	"github.com/coredns/coredns/plugin/dnstap"
	"github.com/coredns/coredns/plugin/dnstap/msg"
	"github.com/coredns/coredns/request"
	"github.com/trident-dns/trident/internal/upstream"

	tap "github.com/dnstap/golang-dnstap"
)

// tapChain lists the dnstap plugins of a server block, which follow one another.
func tapChain(first *dnstap.Dnstap) []*dnstap.Dnstap {
	list := []*dnstap.Dnstap{first}
	for next, ok := first.Next.(*dnstap.Dnstap); ok; next, ok = next.Next.(*dnstap.Dnstap) {
		list = append(list, next)
	}
	return list
}

// tap reports one attempt: the question, and the reply if there was one. Seen from the upstream, CoreDNS is the one who
// asks: the query address is the local end of the connection.
func (f *Forward) tap(ctx context.Context, state request.Request, m *member, a upstream.Answer) {
	if a.Sent.IsZero() {
		return // nothing went out
	}
	var peer net.Addr = m.udp
	if a.Proto == "tcp" {
		peer = m.tcp
	}
	for _, t := range f.taps {
		query := newTapMessage(tap.Message_FORWARDER_QUERY, peer, a)
		if t.IncludeRawMessage {
			sent := *state.Req // the ID is what differs on the wire
			sent.Id = a.WireID
			query.QueryMessage, _ = sent.Pack()
		}
		t.TapMessageWithMetadata(ctx, query, state)
		if a.Msg == nil {
			continue
		}
		reply := newTapMessage(tap.Message_FORWARDER_RESPONSE, peer, a)
		msg.SetResponseTime(reply, a.Received)
		if t.IncludeRawMessage {
			received := *a.Msg
			received.Id = a.WireID
			reply.ResponseMessage, _ = received.Pack()
		}
		t.TapMessageWithMetadata(ctx, reply, state)
	}
}

// newTapMessage fills in what the messages of one attempt have in common.
func newTapMessage(kind tap.Message_Type, peer net.Addr, a upstream.Answer) *tap.Message {
	m := new(tap.Message)
	msg.SetType(m, kind)
	msg.SetQueryTime(m, a.Sent)
	if a.Local != nil {
		_ = msg.SetQueryAddress(m, a.Local) // fails on address types that no transport has
	}
	_ = msg.SetResponseAddress(m, peer)
	return m
}
