package etcd

import (
	"github.com/trident-dns/trident/plugin/backend"
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/index"
)

// view shows one question the zones of a block, each as it was when the question first looked at it.
type view struct {
	block  *Etcd
	zones  zones
	pinned []pin
	few    [2]pin // room for the first
}

func (e *Etcd) view() *view {
	v := &view{block: e, zones: e.zones}
	v.pinned = v.few[:0]
	return v
}

type pin struct {
	source *source
	state  *index.Snapshot
}

// Zone implements backend.View. A zone that is not loaded yet is left to whoever answers for the name when the server
// is asked, which is this plugin, with the reason; so is what belongs to a stub zone.
func (v *view) Zone(name string) (*backend.Zone, backend.Store) {
	z := v.zones.match(name)
	if z == nil {
		return nil, nil
	}
	if _, stub := v.block.stub(name, z); stub != nil {
		return nil, nil
	}
	s := v.at(z.source)
	if !s.Ready() {
		return nil, nil
	}
	return z.Zone, s
}

// IsZone implements backend.View.
func (v *view) IsZone(path string) bool {
	_, ok := v.zones[skydns.NameOf(path)]
	return ok
}

func (v *view) at(s *source) *index.Snapshot {
	for _, p := range v.pinned {
		if p.source == s {
			return p.state
		}
	}
	p := pin{s, s.index.Snapshot()}
	v.pinned = append(v.pinned, p)
	return p.state
}
