package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/metrics"
	"github.com/coredns/coredns/request"

	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/etcd/relay"
)

// loopOption is the EDNS option, of those for local use, that SkyDNS marks questions with which it sends to the servers
// of stub zones: 65001 and ten more (RFC 6891, section 9). A server of ours or of SkyDNS's that gets such a question for
// a stub zone of its own does not send it on again.
const loopOption = dns.EDNS0LOCALSTART + 10

// maxRelayed is how many questions of one block may be on their way to other servers at a time. Whatever is more is
// refused at once: it would only wait for servers that do not answer.
const maxRelayed = 4096

// The values of the label "result" of the metric of relayed questions.
const (
	relayAnswered = "answered"
	relayFailed   = "failed"
	relayLoop     = "loop"
	relayRefused  = "refused"
)

var (
	errLoop    = errors.New("question has come through a stub zone before")
	errRelayed = fmt.Errorf("%d questions are on their way already", maxRelayed)
)

// relay answers a question with what other name servers say: those of a stub zone, or, when zone is "", of all other
// names.
func (e *Etcd) relay(ctx context.Context, state request.Request, zone string, g *relay.Group) (int, error) {
	count := func(result string) {
		relayed.WithLabelValues(metrics.WithServer(ctx), relayKind(zone), result).Inc()
	}
	if rcode := notRelayed(state.Req); rcode != dns.RcodeSuccess {
		count(relayRefused)
		return rcode, nil
	}
	if zone != "" && isMarked(state.Req) {
		count(relayLoop)
		return e.servfail(state, dns.ExtendedErrorCodeOther, errLoop.Error(), fmt.Errorf("stub zone %s: %w", zone, errLoop))
	}
	defer e.relayed.Add(-1)
	if e.relayed.Add(1) > maxRelayed {
		count(relayRefused)
		return dns.RcodeRefused, plugin.Error(pluginName, errRelayed)
	}
	reply, err := exchange(ctx, g, state, zone != "")
	if errors.Is(err, upstream.ErrUnsupported) {
		count(relayRefused)
		return dns.RcodeNotImplemented, nil // signed in a way that notRelayed does not know
	}
	if err != nil {
		count(relayFailed)
		return e.servfail(state, dns.ExtendedErrorCodeNoReachableAuthority, "no name server answers",
			fmt.Errorf("%s zone %q: %w", relayKind(zone), zone, err))
	}
	count(relayAnswered)
	_ = state.W.WriteMsg(reply)
	return dns.RcodeSuccess, nil
}

// relayKind is a value of the label "kind".
func relayKind(zone string) string {
	if zone == "" {
		return "nameservers"
	}
	return "stub"
}

// notRelayed tells whether a message must stay here, and with which rcode: a signature covers what is changed on the way
// (RFC 8945, section 5.1), and a transfer is more than one message.
func notRelayed(m *dns.Msg) int {
	switch t := m.Question[0].Qtype; {
	case t == dns.TypeAXFR || t == dns.TypeIXFR:
		return dns.RcodeRefused
	case m.IsTsig() != nil:
		return dns.RcodeNotImplemented
	}
	return dns.RcodeSuccess
}

// exchange asks g what the client asks, marked against loops.
func exchange(ctx context.Context, g *relay.Group, state request.Request, mark bool) (*dns.Msg, error) {
	q := upstream.Question{Msg: state.Req, Proto: state.Proto()}
	if mark {
		q.Msg = marked(state.Req)
	}
	reply, err := g.Exchange(ctx, q)
	knowsEDNS := state.Req.IsEdns0() != nil
	if err == nil && mark && !knowsEDNS && refusesEDNS(reply) {
		// RFC 6891, section 7: a server that knows no EDNS may be asked without. It cannot be one of ours.
		q.Msg = state.Req
		reply, err = g.Exchange(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	unmark(reply, knowsEDNS)
	return reply, nil
}

// isMarked tells whether a question bears the mark.
func isMarked(m *dns.Msg) bool {
	opt := m.IsEdns0()
	return opt != nil && slices.ContainsFunc(opt.Option, func(o dns.EDNS0) bool { return o.Option() == loopOption })
}

// marked returns a question with the mark. The message of the client, its OPT record among it, is left as it is.
func marked(m *dns.Msg) *dns.Msg {
	opt := &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}}
	opt.SetUDPSize(relayedSize)
	if old := m.IsEdns0(); old != nil {
		opt.Hdr, opt.Option = old.Hdr, slices.Clone(old.Option)
	}
	opt.Option = append(opt.Option, &dns.EDNS0_LOCAL{Code: loopOption, Data: []byte{1}})
	next := *m
	next.Extra = slices.DeleteFunc(slices.Clone(m.Extra), func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeOPT })
	next.Extra = append(next.Extra, opt)
	return &next
}

// relayedSize is what a question takes by UDP whose client says nothing: what passes without fragments nearly everywhere.
// The server cuts the reply to what the client takes.
const relayedSize = 1232

// refusesEDNS tells whether a reply says that the server knows no EDNS: RFC 6891, section 7.
func refusesEDNS(m *dns.Msg) bool {
	return (m.Rcode == dns.RcodeFormatError || m.Rcode == dns.RcodeNotImplemented) && m.IsEdns0() == nil
}

// unmark takes out of a reply what the client did not ask for.
func unmark(m *dns.Msg, knowsEDNS bool) {
	m.Extra = slices.DeleteFunc(m.Extra, func(rr dns.RR) bool {
		opt, ok := rr.(*dns.OPT)
		if !ok || !knowsEDNS {
			return ok
		}
		opt.Option = slices.DeleteFunc(opt.Option, func(o dns.EDNS0) bool { return o.Option() == loopOption })
		return false
	})
	// An extended rcode has no room in a message without OPT.
	if m.Rcode > 0xF && m.IsEdns0() == nil {
		m.Rcode = dns.RcodeServerFailure
	}
}
