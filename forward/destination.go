package forward

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/coredns/coredns/plugin/pkg/parse"

	"github.com/miekg/dns"
)

// errNoUpstreams says that nothing is left of all TOs together.
var errNoUpstreams = errors.New("no valid upstream addresses found")

// reading is what TOs stand for.
type reading struct {
	list     []endpoint
	files    bool     // one of the TOs is a file
	warnings []string // about what was left out
}

// destinations reads the TOs in their order. A file stands for the addresses on its nameserver lines at this moment.
// What can never be reached is left out.
func destinations(to []string) (reading, error) {
	var all reading
	seen := make(map[endpoint]bool)
	for _, t := range to {
		r, err := destination(t)
		if err != nil {
			return reading{}, err
		}
		all.files = all.files || r.files
		all.warnings = append(all.warnings, r.warnings...)
		for _, e := range r.list {
			if !seen[e] {
				seen[e] = true
				all.list = append(all.list, e)
			}
		}
	}
	switch n := len(all.list); {
	case n == 0:
		return reading{}, errNoUpstreams
	case n > maxUpstreams:
		return reading{}, fmt.Errorf("%d upstreams, accepted are at most %d in one block", n, maxUpstreams)
	}
	return all, nil
}

// destination reads one TO. A file comes before a host name of the same spelling, and an address before both.
func destination(to string) (reading, error) {
	e, warning, err := parseEndpoint(to)
	if errors.Is(err, errNoPort) {
		return reading{warnings: []string{fmt.Sprintf("%s is left out: %v", to, err)}}, nil
	}
	if err != nil && !errors.Is(err, errNotEndpoint) {
		return reading{}, fmt.Errorf("%w: %s", err, acceptedTO)
	}
	if !e.addr.IsValid() {
		r, fileErr := fromFile(to)
		if fileErr == nil {
			return r, nil
		}
		if err != nil {
			return reading{}, fmt.Errorf("%q is %w (%w): %s", to, errNotEndpoint, fileErr, acceptedTO)
		}
	}
	r := reading{list: []endpoint{e}}
	if warning != "" {
		r.warnings = []string{to + ": " + warning}
	}
	return r, nil
}

// fromFile reads a file of the form of resolv.conf(5). A scheme before its path holds for every address in it.
func fromFile(to string) (reading, error) {
	_, path := parse.Transport(to)
	scheme := strings.TrimSuffix(to, path)
	info, err := os.Stat(path)
	if err != nil {
		return reading{}, err
	}
	if info.IsDir() {
		return reading{}, fmt.Errorf("%s is a directory", path)
	}
	if !info.Mode().IsRegular() { // reading a pipe would wait for a writer
		return reading{}, fmt.Errorf("%s is not a regular file", path)
	}
	config, err := dns.ClientConfigFromFile(path)
	if err != nil {
		return reading{}, err
	}
	r := reading{files: true}
	for _, server := range config.Servers {
		e, warning, err := parseEndpoint(scheme + unscoped(server))
		switch {
		case err != nil:
			r.warnings = append(r.warnings, fmt.Sprintf("%s: nameserver %s is left out: %v", path, server, err))
			continue
		case warning != "":
			r.warnings = append(r.warnings, fmt.Sprintf("%s: nameserver %s: %s", path, server, warning))
		}
		r.list = append(r.list, e)
	}
	if len(r.list) == 0 {
		r.warnings = append(r.warnings, path+" has no nameserver line that can be used")
	}
	return r, nil
}

// unscoped leaves the scope off an address that has no use for one: some systems write the interface behind every IPv6
// address.
func unscoped(server string) string {
	host, scope := cutLast(server, "%")
	if scope != "" && !strings.HasPrefix(strings.ToLower(host), "fe80:") {
		return host
	}
	return server
}
