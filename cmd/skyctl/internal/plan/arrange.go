package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// Want is a resource record that is to be kept.
type Want struct {
	RR dns.RR
	// TTL in seconds, in place of that of RR. 0: the server's default.
	TTL uint32
	// Lease is how long the key is to live, in seconds. 0: without end.
	Lease int64
	// Alias says that the address of this record leads back to another name.
	Alias bool
	// Origin is where the record was found, for messages.
	Origin string
}

// Arranger finds keys for resource records. The same record gets the same key each time, so that an import that is run
// again changes nothing.
type Arranger struct {
	Prefix skydns.Prefix
	// Zones are the paths of the zones whose apex is known: records at it are kept below dns/apex and dns/ns.
	Zones map[string]bool
	// Service: see record.ValueOf.
	Service bool
	// Have are the keys that exist, of all owners that are wanted.
	Have []record.Key

	taken   map[string]bool         // keys
	byOwner map[string][]record.Key // of Have
}

// Refused is a record that the server would not serve, and why.
type Refused struct {
	Want Want
	Err  error // wraps a skydns.Reason or record.ErrClass
}

// Arrange returns a key for each record. A record that is there keeps its key; a new one is kept at the key of its name
// when it is the only one, and else at a key below, whose label targetstrip drops.
func (a *Arranger) Arrange(wants []Want) (entries []store.Entry, refused []Refused) {
	a.taken, a.byOwner = make(map[string]bool, len(a.Have)), make(map[string][]record.Key)
	for _, k := range a.Have {
		a.taken[k.Key] = true
		a.byOwner[k.Owner] = append(a.byOwner[k.Owner], k)
	}
	type name struct {
		owner string
		wants []Want
	}
	var names []*name
	index := map[string]*name{}
	for _, w := range wants {
		owner := skydns.PathOf(w.RR.Header().Name)
		n := index[owner]
		if n == nil {
			n = &name{owner: owner}
			index[owner] = n
			names = append(names, n)
		}
		// RFC 2181, section 5: no RRset has a record twice.
		if !slices.ContainsFunc(n.wants, func(o Want) bool { return record.Same(o.RR, w.RR) }) {
			n.wants = append(n.wants, w)
		}
	}
	for _, n := range names {
		e, r := a.name(n.owner, n.wants)
		entries, refused = append(entries, e...), append(refused, r...)
	}
	return entries, refused
}

// name arranges the records of one name.
func (a *Arranger) name(owner string, wants []Want) (entries []store.Entry, refused []Refused) {
	for _, w := range wants {
		value, err := record.ValueOf(w.RR, a.Service && a.alone(owner, wants))
		if err != nil {
			refused = append(refused, Refused{w, err})
			continue
		}
		role := record.Plain
		if a.Zones[owner] {
			role = record.Apex
			if ns, ok := w.RR.(*dns.NS); ok {
				role = record.NS
				value = skydns.Value{Host: ns.Ns}
			}
		}
		value.TTL = w.TTL
		e := store.Entry{TTL: w.Lease}
		if k, ok := a.holder(owner, w.RR); ok {
			e.Key = k.Key
			e.Value, err = keep(k, w.TTL)
		} else {
			only := len(wants) == 1 && len(a.byOwner[owner]) == 0
			e.Key, value.TargetStrip = a.newKey(owner, role, w.RR, only)
			e.Value, err = record.Encode(value)
		}
		if err != nil {
			refused = append(refused, Refused{w, err})
			continue
		}
		a.taken[e.Key] = true
		entries = append(entries, e)
	}
	return entries, refused
}

// alone tells whether all records of a name, those that are there and those that are wanted, are of one type. Only then
// do the fields of a service stand for nothing else: beside addresses, its target's would join them.
func (a *Arranger) alone(owner string, wants []Want) bool {
	rrtype := wants[0].RR.Header().Rrtype
	for _, w := range wants {
		if w.RR.Header().Rrtype != rrtype {
			return false
		}
	}
	for _, k := range a.byOwner[owner] {
		for _, rr := range k.RRs() {
			if rr.Header().Rrtype != rrtype {
				return false
			}
		}
	}
	return true
}

// holder is the key that holds this record and no other.
func (a *Arranger) holder(owner string, rr dns.RR) (record.Key, bool) {
	for _, k := range a.byOwner[owner] {
		if rrs := k.RRs(); len(rrs) == 1 && record.Same(rrs[0], rr) {
			return k, true
		}
	}
	return record.Key{}, false
}

// keep is the value of a key that holds the record already, with the TTL that is wanted: how it is written there, and
// its group, are its writer's affair.
func keep(k record.Key, ttl uint32) (string, error) {
	if k.Record.TTL() == ttl {
		return k.Value, nil
	}
	v := k.Record.Value()
	v.TTL = ttl
	return record.Encode(v)
}

// newKey returns a key that is free, and the targetstrip that goes with it.
func (a *Arranger) newKey(owner string, role record.Role, rr dns.RR, only bool) (key string, strip uint8) {
	base, strip := string(a.Prefix)+"/"+owner, 1
	if role != record.Plain {
		base, strip = strings.TrimSuffix(base, "/")+"/dns/"+string(role), 0
	} else if only && owner != "" && !a.taken[base] {
		return base, 0
	}
	typ := strings.ToLower(dns.Type(rr.Header().Rrtype).String())
	sum := sha256.Sum256([]byte(typ + " " + record.RData(rr)))
	for n := 4; n < len(sum); n++ { // two that share four bytes share no fifth
		key = fmt.Sprintf("%s/%s-%s", strings.TrimSuffix(base, "/"), typ, hex.EncodeToString(sum[:n]))
		if !a.taken[key] {
			break
		}
	}
	return key, strip
}
