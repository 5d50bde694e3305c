package forward

import (
	"strings"

	"github.com/miekg/dns"
)

// territory says which names a block answers for: those at and below a zone, without those at and below an excepted
// name. A name that is itself a zone is inside even if it is excepted, as it always was in the in-tree plugin.
//
// Looking up costs one hash for each label of the name, however many zones and exceptions there are.
type territory struct {
	zones  map[string]struct{}
	except map[string]struct{}
	all    bool // the root without an exception: every name is inside
}

// newTerritory takes lower-case absolute names.
func newTerritory(zones, except []string) territory {
	t := territory{zones: nameSet(zones), except: nameSet(except)}
	_, root := t.zones["."]
	t.all = root && len(except) == 0
	return t
}

// contains tells whether name, lower-case and absolute, is inside.
func (t territory) contains(name string) bool {
	if t.all {
		return true
	}
	if _, apex := t.zones[name]; apex {
		return true
	}
	inside := false
	for rest := name; ; {
		if _, ok := t.except[rest]; ok {
			return false
		}
		if _, ok := t.zones[rest]; ok {
			inside = true
		}
		if rest == "." {
			return inside
		}
		off, end := dns.NextLabel(rest, 0)
		if end {
			rest = "."
		} else {
			rest = rest[off:]
		}
	}
}

func nameSet(names []string) map[string]struct{} {
	set := make(map[string]struct{}, len(names))
	for _, n := range names {
		set[canonical(n)] = struct{}{}
	}
	return set
}

// canonical is the spelling that a name has after it came over the wire: the same bytes can be escaped in several ways
// in a Corefile. A name that cannot be put on the wire stays as it is and matches nothing.
func canonical(name string) string {
	name = strings.ToLower(dns.Fqdn(name))
	if !strings.Contains(name, `\`) {
		return name
	}
	wire := make([]byte, 256) // a name has at most 255 octets (RFC 1035, section 2.3.4)
	n, err := dns.PackDomainName(name, wire, 0, nil, false)
	if err != nil {
		return name
	}
	back, _, err := dns.UnpackDomainName(wire[:n], 0)
	if err != nil {
		return name
	}
	return strings.ToLower(back)
}
