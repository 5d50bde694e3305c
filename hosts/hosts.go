// Package hosts is a CoreDNS plugin that answers A, AAAA and PTR questions from hosts files, and blocks the names of
// lists.
//
// A question is answered from tables that are built aside and swapped: it never waits for a file. The tables belong
// to sources, files and URLs, which all server blocks and all configurations share; a reload keeps them.
//
// What lies where: parse.go and setup.go read the Corefile, hosts.go decides, lookup.go, reverse.go and policy.go ask
// the tables, answer.go makes messages. The packages below internal have no part in DNS messages: source follows
// files and URLs, hostsfile reads their text, table keeps the result.
package hosts

import (
	"context"
	"sync/atomic"

	"github.com/coredns/coredns/plugin"
	"github.com/trident-dns/trident/hosts/internal/source"
	"github.com/trident-dns/trident/hosts/internal/table"

	"github.com/miekg/dns"
)

const (
	pluginName = "hosts"

	typeA    = dns.TypeA
	typeAAAA = dns.TypeAAAA
)

// Hosts answers for one hosts block of a Corefile. After OnStartup it does not change but for what its sources hold.
type Hosts struct {
	Next plugin.Handler

	config
	zones zones
	fall  zones

	content atomic.Pointer[content] // empty until the server starts
	ready   func() bool             // of all blocks of the configuration
}

// content is where the answers of a block come from.
type content struct {
	sources      []source.Source // of names and addresses, in the order in which they answer
	block, allow []list
	started      bool
}

// Name implements plugin.Handler.
func (h *Hosts) Name() string { return pluginName }

// ServeDNS implements plugin.Handler.
func (h *Hosts) ServeDNS(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	// A NOTIFY, or an UPDATE that another plugin lets in, is not about hosts.
	if r.Opcode != dns.OpcodeQuery || len(r.Question) != 1 {
		return h.next(ctx, w, r)
	}
	in := inquiries.Get().(*inquiry)
	defer in.release()
	return h.serve(ctx, w, r, in)
}

func (h *Hosts) serve(ctx context.Context, w dns.ResponseWriter, r *dns.Msg, in *inquiry) (int, error) {
	asked, q, out := &r.Question[0], &in.name, &in.out
	if q.Set(asked.Name) != nil {
		return h.next(ctx, w, r)
	}
	zone := h.zones.match(q)
	if zone == nil && asked.Qtype != dns.TypePTR {
		return h.next(ctx, w, r)
	}
	from := h.content.Load()
	d := data(in.tables[:0]).collect(from.sources)

	*out = addressRecords{owner: asked.Name, ttl: h.ttl, qtype: asked.Qtype}
	found := d.exact(q.Key(0), out)
	if found != existing && zone != nil && from.blocks(ctx, q) {
		return h.blocked(w, r, zone)
	}
	if asked.Qtype == dns.TypePTR {
		return h.servePTR(ctx, w, r, q, zone, d)
	}
	if !out.wantsAny() && h.fallUnsupported && h.fall.contain(q) {
		return h.next(ctx, w, r)
	}
	if found != existing {
		minLabels, _ := h.zones.above(q)
		found = max(found, d.wildcard(q, h.deepWildcards, found, minLabels, out))
	}
	if out.more {
		limited.WithLabelValues("address").Inc()
	}
	switch {
	case found == existing:
		return h.answer(w, r, zone, out.list)
	case h.fall.contain(q):
		return h.next(ctx, w, r)
	case found == implied, h.nxdomain && q.Labels() == zone.labels: // the zone exists: it has the SOA record
		return h.answer(w, r, zone, nil)
	case h.nxdomain:
		return h.nameError(w, r, zone)
	}
	// Hosts files say nothing about the names that they do not have.
	return dns.RcodeServerFailure, nil
}

// servePTR answers with the names of an address. When there are none the question goes on whatever fallthrough says,
// because a hosts file is never all that is known about addresses; nxdomain says that it is.
func (h *Hosts) servePTR(ctx context.Context, w dns.ResponseWriter, r *dns.Msg, q *table.Question, zone *zone,
	d data) (int, error) {
	if a, ok := reverseAddr(q); ok && h.reverse {
		names, more := d.pointers(a, h.zones)
		if more {
			limited.WithLabelValues("ptr").Inc()
		}
		if len(names) > 0 {
			return h.answer(w, r, zone, pointerRecords(r.Question[0].Name, h.ttl, names))
		}
	}
	if h.nxdomain && zone != nil && !h.fall.contain(q) {
		return h.nameError(w, r, zone)
	}
	return h.next(ctx, w, r)
}

func (h *Hosts) next(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	return plugin.NextOrFailure(pluginName, h.Next, ctx, w, r)
}
