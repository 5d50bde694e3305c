package skydns

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Oddities tells what is odd about a value although it is served: what was probably meant otherwise, and what other
// servers of SkyDNS records do not read. It is for people who look after old data. nil: nothing.
func Oddities(data []byte) []string {
	v, err := Decode(data)
	if err != nil {
		return nil // it is not served, and the error says why
	}
	var odd []string
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		odd = append(odd, "the value is not just a JSON object; other servers do not read it")
		again, _ := decodeAny(clean(data))
		fixed, _ := json.Marshal(objectIn(again))
		_ = json.Unmarshal(fixed, &object) // of an object
	}
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		odd = append(odd, oddField(name, object[name], seen)...)
	}
	return append(odd, oddHost(v)...)
}

// oddField looks at one field; seen has the names of those before it by their lower-cased names.
func oddField(name string, value json.RawMessage, seen map[string]string) (odd []string) {
	lower := strings.ToLower(name)
	want, known := fields[lower]
	if !known {
		return []string{fmt.Sprintf("field %q is unknown", name)}
	}
	if other, twice := seen[lower]; twice {
		odd = append(odd, fmt.Sprintf("field %q is there as %q as well", name, other))
	}
	seen[lower] = name
	if kind := value[0]; !strings.ContainsRune(want, rune(kind)) && !bytes.Equal(value, []byte("null")) {
		odd = append(odd, fmt.Sprintf("%s of %q is read, but other servers may not: %s", describe(kind), name, shape(want)))
	}
	return odd
}

const (
	stringStart = `"`
	numberStart = "-0123456789"
	boolStart   = "tf"
)

// fields has what the JSON of each field begins with.
var fields = map[string]string{
	"host": stringStart, "text": stringStart, "group": stringStart, "type": stringStart, "rdata": stringStart,
	"port": numberStart, "priority": numberStart, "weight": numberStart, "ttl": numberStart, "targetstrip": numberStart,
	"mail": boolStart,
}

func describe(kind byte) string {
	switch {
	case kind == '"':
		return "the string"
	case kind == '[':
		return "the list"
	default:
		return "the value"
	}
}

func shape(want string) string {
	switch want {
	case stringStart:
		return "it should be a string"
	case numberStart:
		return "it should be a number without quotes"
	default:
		return "it should be true or false without quotes"
	}
}

// oddHost tells what is odd about a host.
func oddHost(v Value) (odd []string) {
	host := strings.TrimSpace(v.Host)
	if host != v.Host {
		odd = append(odd, "there is white space around the host")
	}
	name, kind, err := parseHost(host)
	if err != nil || kind != Name {
		return odd
	}
	// RFC 1123, section 2.1, and the underscores of RFC 8552.
	if i := strings.IndexFunc(strings.TrimSuffix(name, "."), func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.' || r == '*')
	}); i >= 0 {
		odd = append(odd, fmt.Sprintf("the host %q is no address, and no name that a host could have", v.Host))
	}
	return odd
}
