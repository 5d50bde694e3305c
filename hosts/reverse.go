package hosts

import (
	"bytes"
	"net/netip"

	"github.com/trident-dns/trident/hosts/internal/table"
	"github.com/trident-dns/trident/hosts/internal/wire"
)

const (
	// maxPTR bounds the names in the answer for an address. Programs look at the first, and a list to block gives
	// one address a million.
	maxPTR = 32

	// maxPTRWalk bounds how many names of an address are looked at in one table to find those in the zones of the
	// block.
	maxPTRWalk = 1024
)

var (
	inAddrArpa = []byte("\x07in-addr\x04arpa\x00")
	ip6Arpa    = []byte("\x03ip6\x04arpa\x00")
)

// reverseAddr returns the address whose reverse name q is (RFC 1035 section 3.5, RFC 3596 section 2.5).
func reverseAddr(q *table.Question) (netip.Addr, bool) {
	switch n := q.Labels(); {
	case n == 6 && bytes.Equal(q.Suffix(4), inAddrArpa):
		return reverse4(q.Suffix(0))
	case n == 34 && bytes.Equal(q.Suffix(32), ip6Arpa):
		return reverse6(q.Suffix(0))
	}
	return netip.Addr{}, false
}

func reverse4(name []byte) (netip.Addr, bool) {
	var a [4]byte
	for i := 3; i >= 0; i-- {
		label := name[1 : 1+name[0]]
		name = name[1+len(label):]
		v, ok := octet(label)
		if !ok {
			return netip.Addr{}, false
		}
		a[i] = v
	}
	return netip.AddrFrom4(a), true
}

// octet parses a decimal octet without leading zeros.
func octet(label []byte) (byte, bool) {
	if len(label) > 3 || (len(label) > 1 && label[0] == '0') {
		return 0, false
	}
	v := 0
	for _, c := range label {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return byte(v), v <= 255
}

func reverse6(name []byte) (netip.Addr, bool) {
	var a [16]byte
	for i := 31; i >= 0; i-- {
		if name[0] != 1 {
			return netip.Addr{}, false
		}
		v, ok := nibble(name[1])
		if !ok {
			return netip.Addr{}, false
		}
		a[i/2] |= v << (4 * (1 - i%2))
		name = name[2:]
	}
	return netip.AddrFrom16(a).Unmap(), true
}

func nibble(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

// pointers returns the names of a that are in zones, in the order of the sources and their lines, at most maxPTR.
// more says that there are others.
func (d data) pointers(a netip.Addr, in zones) (names [][]byte, more bool) {
	for i, t := range d {
		all := t.Names(a)
		for j := range all.Len() {
			if j == maxPTRWalk {
				more = true
				break
			}
			name := all.At(j)
			name = name[:wire.Len(name)]
			if !in.containName(name) || d[:i].hasEntry(name, a) {
				continue
			}
			if len(names) == maxPTR {
				return names, true
			}
			if names == nil {
				names = make([][]byte, 0, min(maxPTR, all.Len()))
			}
			names = append(names, name)
		}
	}
	return names, more
}

// hasEntry reports whether one of the tables gives name the address a.
func (d data) hasEntry(name []byte, a netip.Addr) bool {
	for _, t := range d {
		if t.Has(name, a) {
			return true
		}
	}
	return false
}
