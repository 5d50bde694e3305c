package etcd

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/trident-dns/trident/plugin/backend"
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/index"
)

// The bounds of what keys can make of stub zones: each server has connections and health of its own.
const (
	maxStubZones   = 1000
	maxStubServers = 16 // of one stub zone
)

// dnsPort is that of a server whose key names none.
const dnsPort = 53

// Why the key of a stub zone is of no use.
var (
	errStubHost = errors.New("want an address as host")
	errStubName = errors.New("want a key below that of the stub zone")
	errStubOwn  = errors.New("the zone is served here")
	errStubMany = fmt.Errorf("more than %d stub zones, or %d servers of one", maxStubZones, maxStubServers)
)

// stubServers are the servers of stub zones by the zones' names.
type stubServers map[string][]netip.AddrPort

// stubTop is the path below which a zone names its stub zones.
func stubTop(zone *backend.Zone) string { return strings.TrimPrefix(zone.Path+"/dns/stub", "/") }

// readStubs adds the stub zones that are named below zone, whose keys begin with prefix. own tells the zones that are
// served here. The keys that are of no use are returned with the reason.
func (to stubServers) readStubs(
	s *index.Snapshot, prefix skydns.Prefix, zone *backend.Zone, own map[string]bool,
) (bad map[string]error) {
	bad = map[string]error{}
	top := stubTop(zone)
	s.Below(prefix, top, func(key string, r *skydns.Record) bool {
		name, err := stubOf(prefix, top, key)
		switch {
		case err != nil:
		case own[name]:
			err = errStubOwn
		case r.Kind() != skydns.IPv4 && r.Kind() != skydns.IPv6:
			err = errStubHost
		default:
			err = to.add(name, r)
		}
		if err != nil {
			bad[key] = err
		}
		return true
	})
	return bad
}

// stubOf returns the stub zone that a key is about: its last segment is the server's and may look like anything, an
// address among them.
func stubOf(prefix skydns.Prefix, top, key string) (string, error) {
	key = strings.TrimRight(key, "/")
	path, err := prefix.Path(key[:strings.LastIndexByte(key, '/')])
	if err != nil {
		return "", err
	}
	rest, ok := strings.CutPrefix(path, top)
	if !ok || rest != "" && rest[0] != '/' {
		return "", errStubName
	}
	return skydns.NameOf(strings.TrimPrefix(rest, "/")), nil
}

func (to stubServers) add(name string, r *skydns.Record) error {
	port := r.Port()
	if port == 0 {
		port = dnsPort
	}
	server := netip.AddrPortFrom(r.Addr(), port)
	servers, known := to[name]
	switch {
	case slices.Contains(servers, server):
		return nil
	case len(servers) == maxStubServers, !known && len(to) == maxStubZones:
		return errStubMany
	}
	to[name] = append(servers, server)
	return nil
}
