// Package record stands between the keys of SkyDNS and resource records: which records a key holds, and which value
// holds a record. It is pure; what may be served is decided by package skydns.
package record

import (
	"fmt"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// DefaultTTL is what the server gives records without a TTL, unless its Corefile says otherwise.
const DefaultTTL = 300

// Key is a key of etcd, read.
type Key struct {
	store.Entry
	Place
	// Record is what the server makes of the value, nil when it makes nothing of it: Err then says why, and wraps a
	// skydns.Reason.
	Record *skydns.Record
	Err    error
}

// Read reads a key with the code that the server reads it with.
func Read(prefix skydns.Prefix, e store.Entry) Key {
	k := Key{Entry: e}
	path, err := prefix.Path(e.Key)
	if err != nil {
		k.Err = err
		return k
	}
	k.Record, k.Err = skydns.Parse([]byte(e.Value), e.Lease)
	strip := 0
	if k.Record != nil {
		strip = k.Record.Strip()
	}
	k.Place = PlaceOf(path, strip)
	if k.Role == Stub {
		k.Owner = stubZone(prefix, e.Key, k.Zone)
	}
	return k
}

// stubZone is the path of the stub zone that a key is about. The last segment of the key is the server's, and may look
// like anything: an address has dots, which would part labels elsewhere.
func stubZone(prefix skydns.Prefix, key, zone string) string {
	key = strings.TrimRight(key, "/")
	path, err := prefix.Path(key[:strings.LastIndexByte(key, '/')])
	if err != nil {
		return ""
	}
	top := strings.TrimPrefix(zone+"/dns/stub", "/")
	return strings.TrimPrefix(strings.TrimPrefix(path, top), "/")
}

// ReadAll reads all keys.
func ReadAll(prefix skydns.Prefix, entries []store.Entry) []Key {
	keys := make([]Key, len(entries))
	for i, e := range entries {
		keys[i] = Read(prefix, e)
	}
	return keys
}

// Role is what the keys below a name of a zone are for.
type Role string

// The roles.
const (
	Plain Role = ""
	Apex  Role = "apex" // records of the zone's own name
	NS    Role = "ns"   // name servers of the zone
	Stub  Role = "stub" // servers of stub zones
)

// Place is where a key lies.
type Place struct {
	Path string // of the key
	// Owner is the path of the name that the record belongs to: that of the key less targetstrip, or the zone for the
	// roles. For Stub, Read has it as the path of the stub zone.
	Owner string
	Role  Role
	Zone  string // path of the zone, for the roles
}

// PlaceOf tells where a path lies: which labels are the zone's and which its role's can be seen from the path alone.
func PlaceOf(path string, strip int) Place {
	p := Place{Path: path, Owner: skydns.StripPath(path, strip)}
	for from := 0; ; {
		i := strings.Index(path[from:], "dns/")
		if i < 0 {
			return p
		}
		i += from
		from = i + len("dns/")
		if i > 0 && path[i-1] != '/' {
			continue
		}
		name, _, _ := strings.Cut(path[from:], "/")
		zone := strings.TrimSuffix(path[:i], "/")
		switch role := Role(name); role {
		case Apex, NS, Stub:
			p.Role, p.Zone, p.Owner = role, zone, zone
			return p
		}
	}
}

// Config tells whether a key holds the configuration of SkyDNS and no record.
func Config(prefix skydns.Prefix, key string) bool { return key == string(prefix)+"/config" }

// Encode returns the JSON of a value that the server takes, and else the reason why not.
func Encode(v skydns.Value) (string, error) {
	if _, err := v.Record(0); err != nil {
		return "", err
	}
	data, err := marshal(v)
	if err != nil {
		return "", fmt.Errorf("%w: %w", skydns.ReasonJSON, err)
	}
	return data, nil
}
