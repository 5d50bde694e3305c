package skydns

import (
	"fmt"
	"path"
	"strings"

	"github.com/miekg/dns"
)

// Prefix is what all keys begin with: "/skydns", "/a/b", or "" when names begin at the first slash.
type Prefix string

// ParsePrefix cleans a prefix as people write it: with or without slashes around it, of one or more segments.
func ParsePrefix(s string) Prefix {
	return Prefix(strings.TrimSuffix(path.Clean("/"+s), "/"))
}

// Key returns the key of a name.
func (p Prefix) Key(name string) string {
	return string(p) + "/" + PathOf(name)
}

// Path returns the path of a key: its labels from the top level domain down, in lower case, with slashes between them.
// Slashes that are doubled or at the end count for nothing, and a dot in a segment parts labels as it does in a name:
// /skydns/org/example/10.0.0.1 is the key of 10.0.0.1.example.org. The error wraps ReasonName.
//
// The path shares the memory of a key that is written that way already.
func (p Prefix) Path(key string) (string, error) {
	rest, ok := strings.CutPrefix(key, string(p))
	if !ok || rest != "" && rest[0] != '/' {
		return "", fmt.Errorf("%w: %q is not below %s", ReasonName, key, p)
	}
	rest = strings.TrimPrefix(rest, "/")
	if isPlain(rest) {
		return rest, nil
	}
	return fold(rest)
}

// isPlain tells whether s is the path of a name whose labels need no escapes, so that it needs no change.
func isPlain(s string) bool {
	label, total := 0, 1 // total counts the bytes of the name on the wire
	for i := range len(s) {
		switch c := s[i]; {
		case c == '/':
			if label == 0 {
				return false
			}
			label = 0
			total++
			continue
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '*':
			label++
			total++
		default:
			return false
		}
		if label > 63 {
			return false
		}
	}
	if label > 0 {
		total++
	}
	// With label 0 the string is empty, or ends in a slash.
	return total <= 255 && (label > 0 || s == "")
}

// fold is the long way of Path.
func fold(rest string) (string, error) {
	var labels []string // as in a name, from the left
	segments := strings.Split(rest, "/")
	for i := len(segments) - 1; i >= 0; i-- {
		if segments[i] == "" {
			continue
		}
		if n := len(segments[i]) - len(strings.TrimRight(segments[i], `\`)); n%2 == 1 {
			return "", fmt.Errorf("%w: %q escapes the slash after it", ReasonName, segments[i])
		}
		labels = append(labels, segments[i])
	}
	name := strings.Join(labels, ".") + "."
	// On the wire and back again there is one way to write a name.
	var buf [255]byte
	end, err := dns.PackDomainName(name, buf[:], 0, nil, false)
	if err != nil {
		return "", fmt.Errorf("%w: %q: %w", ReasonName, name, err)
	}
	name, _, err = dns.UnpackDomainName(buf[:end], 0)
	if err != nil {
		return "", fmt.Errorf("%w: %q: %w", ReasonName, name, err)
	}
	return PathOf(name), nil
}

// PathOf returns the path of a name that is written as a question is: fully qualified, with escapes.
func PathOf(name string) string {
	var buf [255]byte
	return string(AppendPath(buf[:0], name))
}

// AppendPath appends the path of a name to b.
func AppendPath(b []byte, name string) []byte {
	name = strings.TrimSuffix(Lower(name), ".")
	if strings.ContainsAny(name, `\/`) {
		return append(b, pathOfEscaped(name+".")...)
	}
	for end := len(name); end > 0; {
		start := strings.LastIndexByte(name[:end], '.') + 1
		b = append(b, name[start:end]...)
		if start > 0 {
			b = append(b, '/')
		}
		end = start - 1
	}
	return b
}

// A slash within a label must not part labels of the path.
var (
	escapeSlash   = strings.NewReplacer("/", `\047`)
	unescapeSlash = strings.NewReplacer(`\047`, "/")
)

func pathOfEscaped(name string) string {
	labels := dns.SplitDomainName(name)
	segments := make([]string, len(labels))
	for i, l := range labels {
		segments[len(labels)-1-i] = escapeSlash.Replace(l)
	}
	return strings.Join(segments, "/")
}

// NameOf returns the name of a path, fully qualified.
func NameOf(path string) string {
	b := make([]byte, 0, len(path)+1)
	for end := len(path); end > 0; {
		start := strings.LastIndexByte(path[:end], '/') + 1
		b = append(b, path[start:end]...)
		b = append(b, '.')
		end = start - 1
	}
	if len(b) == 0 {
		return "."
	}
	if strings.Contains(path, `\047`) {
		return unescapeSlash.Replace(string(b))
	}
	return string(b)
}

// StripPath drops n labels from the left of the name of a path. As SkyDNS does, it leaves a name alone that has no more
// than n labels.
func StripPath(path string, n int) string {
	end := len(path)
	for range n {
		i := strings.LastIndexByte(path[:end], '/')
		if i < 0 {
			return path
		}
		end = i
	}
	return path[:end]
}

// CheckName returns a name with its last dot, or why it cannot be put on the wire.
func CheckName(s string) (string, error) {
	name := dns.Fqdn(s)
	var buf [255]byte
	if _, err := dns.PackDomainName(name, buf[:], 0, nil, false); err != nil {
		return "", fmt.Errorf("%q: %w", s, err)
	}
	return name, nil
}
