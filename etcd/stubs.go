package etcd

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trident-dns/trident/internal/shared"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/etcd/index"
	"github.com/trident-dns/trident/etcd/relay"
)

// stubSets are the stub zones of all blocks. A reload that leaves a block's zones as they are goes on with them.
var stubSets shared.Pool[*stubs]

// stubs are the stub zones that the keys of some zones name, kept in step with them.
type stubs struct {
	own   map[string]bool // zones served here, lower-cased
	zones []*served
	table atomic.Pointer[stubTable] // never nil
	told  map[string]error          // keys of no use, as they were logged

	wake   chan struct{} // holds one value while something is to be read anew
	cancel context.CancelFunc
	ended  sync.WaitGroup
	stop   []func()
}

// stubTable is a state of the stub zones. It does not change.
type stubTable struct {
	servers stubServers
	zones   map[string]*relay.Group
	owner   *shared.Owner // of the groups
}

// openStubs begins to follow the stub zones of zones, whose sources are open.
func openStubs(zones []*served, own map[string]bool) *stubs {
	s := &stubs{own: own, zones: zones, wake: make(chan struct{}, 1)}
	s.table.Store(&stubTable{owner: shared.New()})
	for _, z := range zones {
		top := stubTop(z.Zone)
		s.stop = append(s.stop, z.source.index.Listen(func(c index.Change) {
			if c.Touches(top) {
				s.poke()
			}
		}))
	}
	s.read()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.ended.Go(func() { s.follow(ctx) })
	live.addStubs(s)
	return s
}

func (s *stubs) poke() {
	select {
	case s.wake <- struct{}{}:
	default: // is going to be read
	}
}

func (s *stubs) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			s.read()
		}
	}
}

// Close ends the following. Stub zones are still answered for, each question on a connection of its own.
func (s *stubs) Close() error {
	live.removeStubs(s)
	for _, stop := range s.stop {
		stop()
	}
	s.cancel()
	s.ended.Wait()
	s.table.Load().owner.Release()
	return nil
}

// match returns the closest stub zone at or above a lower-cased name with its servers, nil when there is none.
func (s *stubs) match(name string) (string, *relay.Group) {
	zones := s.table.Load().zones
	if len(zones) == 0 {
		return "", nil
	}
	for offset, end := 0, false; !end; offset, end = dns.NextLabel(name, offset) {
		if g, ok := zones[name[offset:]]; ok {
			return name[offset:], g
		}
	}
	return ".", zones["."]
}

// len is the number of stub zones.
func (s *stubs) len() int { return len(s.table.Load().zones) }

// read makes a table of the keys as they are now.
func (s *stubs) read() {
	servers := stubServers{}
	bad := map[string]error{}
	for _, z := range s.zones {
		maps.Copy(bad, servers.readStubs(z.source.index.Snapshot(), z.source.prefix, z.Zone, s.own))
	}
	s.tellBad(bad)
	old := s.table.Load()
	if maps.EqualFunc(servers, old.servers, slices.Equal) {
		return
	}
	next := &stubTable{servers: servers, zones: map[string]*relay.Group{}, owner: shared.New()}
	for name, addrs := range servers {
		g, err := relay.Open(next.owner, pluginName, addrs)
		if err != nil {
			log.Errorf("Stub zone %s is not served: %v", name, err)
			continue
		}
		next.zones[name] = g
	}
	s.table.Store(next)
	old.owner.Release() // after the new one has acquired what stays
	tellStubs(old.servers, servers)
}

// tellBad logs the keys that have come to be of no use.
func (s *stubs) tellBad(bad map[string]error) {
	told := 0
	for _, key := range slices.Sorted(maps.Keys(bad)) {
		if errors.Is(s.told[key], bad[key]) {
			continue
		}
		if told++; told > maxBadLogged {
			log.Warningf("More keys of stub zones are of no use")
			break
		}
		log.Warningf("Key %s makes no stub zone: %v", key, bad[key])
	}
	s.told = bad
}

// tellStubs logs what has become different.
func tellStubs(old, servers stubServers) {
	told := 0
	tell := func(format string, args ...any) {
		if told++; told <= maxBadLogged {
			log.Infof(format, args...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if !slices.Equal(old[name], servers[name]) {
			tell("Stub zone %s is asked of %v", name, servers[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if servers[name] == nil {
			tell("Stub zone %s is gone", name)
		}
	}
	if told > maxBadLogged {
		log.Infof("%d more stub zones have changed; there are %d", told-maxBadLogged, len(servers))
	}
}
