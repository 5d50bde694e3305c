// Package form reads and writes records in the forms that they are kept in outside etcd: zone files (RFC 1035, section
// 5), hosts files, JSON lines, and what an etcd of version 2 answers for /v2/keys/skydns?recursive=true.
package form

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"

	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// Form is one of them.
type Form string

// The forms.
const (
	Auto  Form = "auto" // to be told from the text
	Zone  Form = "zone"
	Hosts Form = "hosts"
	JSON  Form = "json"
	V2    Form = "v2"
)

// Forms lists them all.
var Forms = []Form{Auto, Zone, Hosts, JSON, V2}

// ErrSyntax says that a text is not of its form. What wraps it names the line, where there are any.
var ErrSyntax = errors.New("cannot be read")

// Input is what a text holds: records that need keys (zone, hosts), or keys as they are (json, v2).
type Input struct {
	Wants   []plan.Want
	Entries []store.Entry
	// Zone is the name that the SOA record of a zone file belongs to, "" without.
	Zone string
	// Folds says that keys are to be written as the server looks for them: in lower case, without spare slashes. They came
	// from people and programs long gone, and not from a copy that is to be the same.
	Folds bool
	// Notes are about what was left out on purpose, for people.
	Notes []string
}

// Options of Read.
type Options struct {
	// Origin completes relative names of zone files, and names without a dot of hosts files. "" for none.
	Origin string
	// TTL in seconds of records that have none. 0: the server's default.
	TTL uint32
	// Key makes the key of a name, for JSON lines without one.
	Key func(name string) string
}

// Read reads a text. Its errors wrap ErrSyntax.
func Read(f Form, file string, text []byte, o Options) (Input, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if f == Auto {
		f = guess(text)
	}
	switch f {
	case Zone:
		return readZone(file, text, o)
	case Hosts:
		return readHosts(file, text, o)
	case JSON:
		return readJSON(file, text, o)
	case V2:
		return readV2(file, text)
	default:
		return Input{}, fmt.Errorf("%w: the form %q is unknown", ErrSyntax, f)
	}
}

// guess tells the form from the first line that says something.
func guess(text []byte) Form {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if line[0] == '{' {
			if isV2(text) {
				return V2
			}
			return JSON
		}
		first := bytes.Fields(line)[0]
		if addr, _, err := splitZone(string(first)); err == nil && addr.IsValid() {
			return Hosts
		}
		return Zone
	}
	return Zone
}

// splitZone reads an address with or without a zone, as in fe80::1%eth0.
func splitZone(s string) (netip.Addr, string, error) {
	addr, err := netip.ParseAddr(s)
	return addr.WithZone(""), addr.Zone(), err
}
