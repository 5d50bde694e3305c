package etcd

import (
	"fmt"
	"time"

	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/transfer"

	"github.com/trident-dns/trident/plugin/backend"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/etcd/index"
)

// maxPart is how many records are handed to the transfer plugin at a time.
const maxPart = 500

// The ways in which a transfer is answered, as values of the label "kind".
const (
	transferWhole   = "axfr"
	transferChanges = "ixfr"
	transferCurrent = "current" // the secondary has all
)

var _ transfer.Transferer = (*Etcd)(nil)

// Transfer implements transfer.Transferer. The records are those of one state of the zone. Whoever has a serial that the
// journal remembers gets the differences (RFC 1995, in one step), and everybody else the zone (RFC 5936).
func (e *Etcd) Transfer(zone string, serial uint32) (<-chan []dns.RR, error) {
	z := e.zones[zone]
	if z == nil {
		return nil, transfer.ErrNotAuthoritative
	}
	if t := z.source.trust(time.Now(), e.maxStale); t == starting || t == expired {
		return nil, plugin.Error(pluginName, fmt.Errorf("zone %s: %s", zone, t.reason()))
	}
	if !z.source.complete() {
		return nil, plugin.Error(pluginName, fmt.Errorf("zone %s: the key of its own name was not read yet", zone))
	}
	now := z.source.index.Snapshot()
	if serial != 0 && !isLater(now.Serial(z.Zone), serial) {
		transfers.WithLabelValues(zone, transferCurrent).Inc()
		return send([]dns.RR{e.copyOf(z, now).SOA()}), nil
	}
	if serial != 0 && z.journal != nil {
		if before, now, touched, ok := z.journal.since(serial); ok {
			from, to := e.copyOf(z, before), e.copyOf(z, now)
			if lost, got, ok := backend.Diff(from, to, touched); ok {
				transfers.WithLabelValues(zone, transferChanges).Inc()
				// RFC 1995, section 4.
				return send([]dns.RR{to.SOA(), from.SOA()}, lost, []dns.RR{to.SOA()}, got, []dns.RR{to.SOA()}), nil
			}
		}
	}
	transfers.WithLabelValues(zone, transferWhole).Inc()
	return sendAll(e.copyOf(z, now)), nil
}

// isLater tells whether serial a comes after b: RFC 1982, section 3.2.
func isLater(a, b uint32) bool { return int32(a-b) > 0 }

// copyOf is a zone as it was in a state of its source.
func (e *Etcd) copyOf(z *served, state *index.Snapshot) backend.Copy {
	v := e.view()
	v.pinned = append(v.pinned, pin{z.source, state})
	return e.tuned().Copy(v, z.Zone, state)
}

// sendAll hands over the whole zone (RFC 5936, section 2.2). The goroutine ends when everything was taken: the transfer
// plugin takes it to the end, also when the client has gone.
func sendAll(c backend.Copy) <-chan []dns.RR {
	to := make(chan []dns.RR)
	go func() {
		defer close(to)
		part := []dns.RR{c.SOA()}
		c.Records(func(rrs []dns.RR) bool {
			if part = append(part, rrs...); len(part) >= maxPart {
				to <- part
				part = nil
			}
			return true
		})
		to <- append(part, c.SOA())
	}()
	return to
}

// send hands over parts, all of which are there already.
func send(parts ...[]dns.RR) <-chan []dns.RR {
	to := make(chan []dns.RR, len(parts))
	defer close(to)
	for _, part := range parts {
		to <- part
	}
	return to
}
