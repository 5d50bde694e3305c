package skydns

import (
	"net/netip"

	"github.com/miekg/dns"
)

// Kind is what the host of a record is.
type Kind uint8

// The kinds of host.
const (
	NoHost Kind = iota // no host, or a record of Type and RData
	IPv4
	IPv6
	Name
)

// Record is a value that can be served. It is immutable and small: a million of them are kept.
type Record struct {
	host string // 4 or 16 bytes of an address, or a name with its last dot
	more *more  // what few records have; nil when this one has none of it

	lease                  int64
	ttl                    uint32
	port, priority, weight uint16
	strip                  uint8
	kind                   Kind
	mail                   bool
}

type more struct {
	text, group string
	rr          dns.RR // of type and rdata, owner "." and TTL 0
	rdata       string // as it was written
}

// Kind returns what the host is.
func (r *Record) Kind() Kind { return r.kind }

// Addr returns the address of a record of kind IPv4 or IPv6.
func (r *Record) Addr() netip.Addr {
	addr, _ := netip.AddrFromSlice([]byte(r.host))
	return addr
}

// IP returns the bytes of the address of a record of kind IPv4 or IPv6, 4 or 16 of them, for the caller to keep.
func (r *Record) IP() []byte { return []byte(r.host) }

// RawHost returns the host for comparison: two records have the same one just when this string is the same.
func (r *Record) RawHost() string { return r.host }

// Target returns the name of a record of kind Name, as it was written, with its last dot.
func (r *Record) Target() string {
	if r.kind != Name {
		return ""
	}
	return r.host
}

// Text returns the text, "" without.
func (r *Record) Text() string {
	if r.more == nil {
		return ""
	}
	return r.more.text
}

// Group returns the group, "" without.
func (r *Record) Group() string {
	if r.more == nil {
		return ""
	}
	return r.more.group
}

// RR returns the record of a value with Type and RData, nil for others. It must not be changed.
func (r *Record) RR() dns.RR {
	if r.more == nil {
		return nil
	}
	return r.more.rr
}

// Port returns the port, 0 without.
func (r *Record) Port() uint16 { return r.port }

// Priority returns the priority, 0 when the default is to be used.
func (r *Record) Priority() uint16 { return r.priority }

// Weight returns the weight, 0 when the default is to be used.
func (r *Record) Weight() uint16 { return r.weight }

// Mail tells whether the record answers MX.
func (r *Record) Mail() bool { return r.mail }

// TTL returns the TTL in seconds, 0 when the default is to be used.
func (r *Record) TTL() uint32 { return r.ttl }

// Lease returns the ID of the lease that the key hangs on, 0 without.
func (r *Record) Lease() int64 { return r.lease }

// Strip returns how many labels targets lose.
func (r *Record) Strip() int { return int(r.strip) }

// Same tells whether two records answer alike. Leases do not count: a service that registers anew has another one.
func (r *Record) Same(o *Record) bool {
	if r.host != o.host || r.ttl != o.ttl || r.port != o.port || r.priority != o.priority || r.weight != o.weight ||
		r.strip != o.strip || r.kind != o.kind || r.mail != o.mail || r.Text() != o.Text() || r.Group() != o.Group() {
		return false
	}
	a, b := r.RR(), o.RR()
	return a == nil && b == nil || a != nil && b != nil && a.String() == b.String()
}
