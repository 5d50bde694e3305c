package skydns

import "github.com/miekg/dns"

// Lower returns a name in lower case and with its last dot, as dns.CanonicalName does: for most names in less time.
func Lower(name string) string {
	if name == "" || name[len(name)-1] != '.' {
		return dns.CanonicalName(name)
	}
	for i := range len(name) {
		if c := name[i]; 'A' <= c && c <= 'Z' || c == '\\' {
			return dns.CanonicalName(name) // also the last dot may be escaped
		}
	}
	return name
}
