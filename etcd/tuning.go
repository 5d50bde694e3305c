package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin/metrics"
	"github.com/coredns/coredns/request"

	"github.com/trident-dns/trident/internal/shared"
	"github.com/trident-dns/trident/plugin/backend"

	"github.com/miekg/dns"
)

// tuning is the settings of the Corefile and of the object in etcd made into one. It does not change.
type tuning struct {
	from     *fleetState
	resolver backend.Resolver
}

// tuned returns the resolver for the questions of now.
func (e *Etcd) tuned() *backend.Resolver {
	if e.fleet == nil {
		return &e.resolver
	}
	state := e.fleet.state.Load()
	t := e.tuning.Load()
	if t == nil || t.from != state {
		t = &tuning{state, backend.Resolver{Settings: state.tune(e.resolver.Settings, e.pinned)}}
		e.tuning.Store(t)
	}
	return &t.resolver
}

// tune puts what the object says in the place of defaults. pinned are the properties of the Corefile, which win.
func (c *fleetConfig) tune(s backend.Settings, pinned map[string]bool) backend.Settings {
	if c.ttl > 0 && !pinned["ttl"] {
		s.TTL = c.ttl
	}
	if c.minTTL > 0 && !pinned["negative_ttl"] {
		s.NegativeTTL = c.minTTL
	}
	if c.priority > 0 && !pinned["priority"] {
		s.Priority = c.priority
	}
	if c.hostmaster != "" && !pinned["soa"] {
		s.SOA.RName = c.hostmaster
	}
	return s
}

// overruled are the properties of the Corefile, by what the object calls them.
var overruled = map[string]string{"ttl": "ttl", "min_ttl": "negative_ttl", "priority": "priority", "hostmaster": "soa"}

// nameservers returns the servers for a lower-cased name, when it belongs to no zone and no stub zone of the server block
// and its Corefile leaves it to the object in etcd.
func (e *Etcd) nameservers(name string) (*fleetState, bool) {
	if e.fleet == nil || e.forwards {
		return nil, false
	}
	state := e.fleet.state.Load()
	if state.servers == nil || state.noRec {
		return nil, false
	}
	elsewhere := slices.ContainsFunc(e.block.all, func(o *Etcd) bool {
		_, stub := o.stub(name, nil)
		return stub != nil || o.zones.match(name) != nil
	})
	return state, !elsewhere
}

// recurse answers for a name that belongs to nobody here with what the name servers say, unless it is too short to mean
// anything elsewhere.
func (e *Etcd) recurse(ctx context.Context, state request.Request, f *fleetState) (int, error) {
	ndots := f.ndots
	if ndots == 0 {
		ndots = defaultNdots
	}
	if n := dns.CountLabel(state.Name()); n < ndots {
		relayed.WithLabelValues(metrics.WithServer(ctx), relayKind(""), relayRefused).Inc()
		return e.servfail(state, dns.ExtendedErrorCodeProhibited, "name is too short to be sent on",
			fmt.Errorf("name %q: %d labels, want %d to be sent on", state.Name(), n, ndots))
	}
	return e.relay(ctx, state, "", f.servers)
}

// warnOverruled logs what the object in etcd cannot bring about for this block.
func (e *Etcd) warnOverruled(c *fleetState) {
	var names []string
	for name, said := range map[string]bool{
		"ttl": c.ttl > 0, "min_ttl": c.minTTL > 0, "priority": c.priority > 0, "hostmaster": c.hostmaster != "",
	} {
		if said && e.pinned[overruled[name]] {
			names = append(names, name)
		}
	}
	if c.servers != nil && e.forwards {
		names = append(names, "nameservers")
	}
	if len(names) > 0 {
		slices.Sort(names)
		log.Warningf("Key %s: the Corefile says something else about %s", e.fleet.key, strings.Join(names, ", "))
	}
}

// follow begins to follow the object in etcd for this block, until owner ends.
func (e *Etcd) follow(owner *shared.Owner, f *fleet) error {
	e.fleet = f
	stop := f.listen(func(s *fleetState, revision int64, first bool) {
		e.warnOverruled(s)
		if first {
			return // the serials are those of the lists
		}
		for _, z := range e.zones {
			z.source.index.Touch(revision)
		}
	})
	return own(owner, stopper(stop))
}

// hasForward tells whether the server block of a configuration forwards by itself.
func hasForward(c *dnsserver.Config) bool { return c.Handler("forward") != nil }
