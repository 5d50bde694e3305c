package hosts

import (
	"context"
	"net/netip"

	"github.com/coredns/coredns/plugin/metadata"
	"github.com/coredns/coredns/plugin/metrics"
	"github.com/trident-dns/trident/hosts/internal/source"
	"github.com/trident-dns/trident/hosts/internal/table"

	"github.com/miekg/dns"
)

// blockReply is what the client of a blocked name gets.
type blockReply uint8

const (
	replyNull     blockReply = iota // the unspecified address
	replyNXDomain                   // the name does not exist
	replyNoData                     // the name has no records
	replyRefused                    // nothing
)

var blockReplies = map[string]blockReply{
	"null": replyNull, "nxdomain": replyNXDomain, "nodata": replyNoData, "refused": replyRefused,
}

// list is a source of names that the Corefile calls name.
type list struct {
	name   string
	source source.Source
}

// blocks reports whether q is blocked: it is in a list to block and in none to allow. It counts the list that decided
// when that was a question.
func (c *content) blocks(ctx context.Context, q *table.Question) bool {
	hit, action := covering(c.block, q), "block"
	if hit == nil {
		return false
	}
	if a := covering(c.allow, q); a != nil {
		hit, action = a, "allow"
	}
	listHits.WithLabelValues(metrics.WithServer(ctx), hit.name, action).Inc()
	metadata.SetValueFunc(ctx, "hosts/"+action, func() string { return hit.name })
	return action == "block"
}

// covering returns the first of the lists that covers q.
func covering(lists []list, q *table.Question) *list {
	for i := range lists {
		for _, part := range lists[i].source.Parts() {
			if part.List.Covers(q) {
				return &lists[i]
			}
		}
	}
	return nil
}

// blocked answers a question for a name that is blocked. A client that understands extended errors is told so
// (RFC 8914 section 4.16).
func (h *Hosts) blocked(w dns.ResponseWriter, r *dns.Msg, zone *zone) (int, error) {
	m := new(dns.Msg)
	m.SetReply(r)
	m.Authoritative = true
	switch h.reply {
	case replyNull:
		m.Answer = h.unspecified(r.Question[0])
	case replyNXDomain:
		m.Rcode = dns.RcodeNameError
	case replyRefused:
		m.Rcode = dns.RcodeRefused
		m.Authoritative = false
	case replyNoData:
	}
	if len(m.Answer) == 0 && m.Rcode != dns.RcodeRefused {
		m.Ns = []dns.RR{h.soa(zone)}
	}
	if opt := r.IsEdns0(); opt != nil {
		m.SetEdns0(opt.UDPSize(), opt.Do())
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeBlocked}}
	}
	w.WriteMsg(m)
	if m.Rcode == dns.RcodeRefused {
		return dns.RcodeSuccess, nil // REFUSED would say that nothing was written
	}
	return m.Rcode, nil
}

// unspecified returns the address that leads nowhere, for a question that asks for one.
func (h *Hosts) unspecified(q dns.Question) []dns.RR {
	out := addressRecords{owner: q.Name, ttl: h.ttl, qtype: q.Qtype}
	switch q.Qtype {
	case typeA:
		return []dns.RR{out.record(netip.IPv4Unspecified())}
	case typeAAAA:
		return []dns.RR{out.record(netip.IPv6Unspecified())}
	}
	return nil
}
