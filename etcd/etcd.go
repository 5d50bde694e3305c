package etcd

import (
	"sync/atomic"
	"time"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/pkg/fall"
	clog "github.com/coredns/coredns/plugin/pkg/log"
	"github.com/coredns/coredns/plugin/pkg/upstream"
	"github.com/coredns/coredns/plugin/transfer"

	"github.com/trident-dns/trident/plugin/backend"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/etcd/relay"
)

const pluginName = "etcd"

var log = clog.NewWithPlugin(pluginName)

// Etcd answers for its zones from records in etcd. One stands for one etcd block of a Corefile. It does not change once
// it is started.
type Etcd struct {
	Next plugin.Handler

	fall     fall.F
	resolver backend.Resolver
	zones    zones
	upstream *upstream.Upstream
	maxStale time.Duration // 0: what is known is told for ever
	local    string        // what local.dns stands for in each zone, "" for nothing
	ready    func() bool   // of all blocks of the server
	started  atomic.Bool   // the zones have their sources

	block    *serverBlock
	stubs    *stubs       // nil without stubzones; set before started
	relayed  atomic.Int64 // questions on their way to other servers
	fleet    *fleet       // nil without config; set before started
	tuning   atomic.Pointer[tuning]
	pinned   map[string]bool    // properties that the Corefile sets
	transfer *transfer.Transfer // of the server block, or nil; set before started
	forwards bool               // the server block has a forward; set before started
}

// serverBlock is what the etcd blocks of one server block know of each other. It does not change after set-up.
type serverBlock struct {
	all []*Etcd
	own map[string]bool // zones of all of them
}

// add makes e one of them.
func (b *serverBlock) add(e *Etcd) {
	e.block = b
	b.all = append(b.all, e)
	for name := range e.zones {
		b.own[name] = true
	}
}

// zones are the zones of one block by name.
type zones map[string]*served

// served is a zone with the source of its records.
type served struct {
	*backend.Zone
	localName string   // local.dns in the zone
	source    *source  // set before Etcd.started, not changed after it
	journal   *journal // nil without transfers; set as source is
}

// match returns the closest zone at or above a lower-cased name, nil when there is none.
func (z zones) match(name string) *served {
	for offset, end := 0, false; !end; offset, end = dns.NextLabel(name, offset) {
		if s, ok := z[name[offset:]]; ok {
			return s
		}
	}
	return z["."]
}

// stub returns the closest stub zone at or above a lower-cased name, when it is closer than z, the closest zone of the
// block, nil for none.
func (e *Etcd) stub(name string, z *served) (string, *relay.Group) {
	if e.stubs == nil {
		return "", nil
	}
	zone, g := e.stubs.match(name)
	if g == nil || z != nil && len(zone) <= len(z.Name) {
		return "", nil
	}
	return zone, g
}

// Name implements plugin.Handler.
func (e *Etcd) Name() string { return pluginName }

// Ready implements ready.Readiness.
func (e *Etcd) Ready() bool { return e.ready() }

// hasData tells whether every zone of this block can be answered for.
func (e *Etcd) hasData() bool {
	if !e.started.Load() {
		return false
	}
	for _, z := range e.zones {
		if !z.source.index.Snapshot().Ready() {
			return false
		}
	}
	return true
}
