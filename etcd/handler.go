package etcd

import (
	"context"
	"fmt"
	"time"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/metadata"
	"github.com/coredns/coredns/plugin/metrics"
	"github.com/coredns/coredns/request"

	"github.com/trident-dns/trident/internal/ede"
	"github.com/trident-dns/trident/plugin/backend"

	"github.com/miekg/dns"
)

// ServeDNS implements plugin.Handler.
func (e *Etcd) ServeDNS(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) (int, error) {
	state := request.Request{W: w, Req: r}
	z := e.zones.match(state.Name())
	if r.Opcode == dns.OpcodeQuery {
		if zone, g := e.stub(state.Name(), z); g != nil {
			return e.relay(ctx, state, zone, g)
		}
		if z == nil {
			if f, ok := e.nameservers(state.Name()); ok {
				return e.recurse(ctx, state, f)
			}
		}
	}
	// Only questions are for this plugin: NOTIFY and UPDATE are for those that come after it.
	if z == nil || r.Opcode != dns.OpcodeQuery {
		return plugin.NextOrFailure(pluginName, e.Next, ctx, w, r)
	}
	if t := state.QType(); t == dns.TypeAXFR || t == dns.TypeIXFR {
		return dns.RcodeRefused, nil
	}
	trust := z.source.trust(time.Now(), e.maxStale)
	if metadata.ValueFuncs(ctx) != nil {
		metadata.SetValueFunc(ctx, "etcd/zone", func() string { return z.Name })
		metadata.SetValueFunc(ctx, "etcd/state", trust.String)
	}
	if trust == starting || trust == expired {
		return e.fail(ctx, state, z, trust)
	}

	spent := spendingOf(ctx)
	q := backend.Question{
		Name: state.QName(), At: e.at(z, state.Name()), Type: state.QType(), Size: state.Size(),
		Steps: &spent.steps, Outside: e.outside(spent, state),
	}
	if trust == stale {
		q.MaxTTL = staleTTL
	}
	res := e.tuned().Lookup(ctx, e.view(), q)
	if res.Cut {
		walksCut.WithLabelValues(metrics.WithServer(ctx), z.Name).Inc()
	}
	if res.Missing && e.fall.Through(state.Name()) {
		return plugin.NextOrFailure(pluginName, e.Next, ctx, w, r)
	}

	m := new(dns.Msg)
	m.SetRcode(r, res.Rcode)
	m.Authoritative, m.Truncated = res.Authoritative, res.Truncated
	m.Answer, m.Ns, m.Extra = res.Answer, res.Ns, res.Extra
	if trust == stale {
		staleAnswers.WithLabelValues(metrics.WithServer(ctx), z.Name).Inc()
		ede.Explain(r, m, staleCode(res.Rcode), "etcd is away")
	}
	_ = w.WriteMsg(m)
	return dns.RcodeSuccess, nil
}

// at returns the name whose records answer for a lower-cased name of z, "" when it is that one itself.
func (e *Etcd) at(z *served, name string) string {
	if e.local != "" && name == z.localName {
		return e.local
	}
	return ""
}

// fail answers SERVFAIL for want of data.
func (e *Etcd) fail(ctx context.Context, state request.Request, z *served, t trust) (int, error) {
	failures.WithLabelValues(metrics.WithServer(ctx), z.Name, t.String()).Inc()
	return e.servfail(state, t.code(), t.reason(), fmt.Errorf("zone %s: %s", z.Name, t.reason()))
}

// servfail answers SERVFAIL with the reason, where the client can take it.
func (e *Etcd) servfail(state request.Request, code uint16, text string, err error) (int, error) {
	return ede.Fail(state.W, state.Req, dns.RcodeServerFailure, code, text, plugin.Error(pluginName, err))
}
