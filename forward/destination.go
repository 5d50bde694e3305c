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

// destinations reads the TOs in their order. A file stands for the addresses on its nameserver lines. What can never be
// reached is left out, with a warning for each.
func destinations(to []string) (list []endpoint, warnings []string, err error) {
	seen := make(map[endpoint]bool)
	for _, t := range to {
		found, warned, err := destination(t)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, warned...)
		for _, e := range found {
			if !seen[e] {
				seen[e] = true
				list = append(list, e)
			}
		}
	}
	switch {
	case len(list) == 0:
		return nil, nil, errNoUpstreams
	case len(list) > maxUpstreams:
		return nil, nil, fmt.Errorf("%d upstreams, accepted are at most %d in one block", len(list), maxUpstreams)
	}
	return list, warnings, nil
}

// destination reads one TO. A file comes before a host name of the same spelling, and an address before both.
func destination(to string) (list []endpoint, warnings []string, err error) {
	e, warning, err := parseEndpoint(to)
	if errors.Is(err, errNoPort) {
		return nil, []string{fmt.Sprintf("%s is left out: %v", to, err)}, nil
	}
	if err != nil && !errors.Is(err, errNotEndpoint) {
		return nil, nil, fmt.Errorf("%w: %s", err, acceptedTO)
	}
	if !e.addr.IsValid() {
		list, warnings, fileErr := fromFile(to)
		if fileErr == nil {
			return list, warnings, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%q is %w (%w): %s", to, errNotEndpoint, fileErr, acceptedTO)
		}
	}
	if warning != "" {
		warnings = append(warnings, to+": "+warning)
	}
	return []endpoint{e}, warnings, nil
}

// fromFile reads a file of the form of resolv.conf(5). A scheme before its path holds for every address in it.
func fromFile(to string) (list []endpoint, warnings []string, err error) {
	_, path := parse.Transport(to)
	scheme := strings.TrimSuffix(to, path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, nil, fmt.Errorf("%s is a directory", path)
	}
	servers, err := dns.ClientConfigFromFile(path)
	if err != nil {
		return nil, nil, err
	}
	for _, server := range servers.Servers {
		e, warning, err := parseEndpoint(scheme + unscoped(server))
		switch {
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("%s: nameserver %s is left out: %v", path, server, err))
			continue
		case warning != "":
			warnings = append(warnings, fmt.Sprintf("%s: nameserver %s: %s", path, server, warning))
		}
		list = append(list, e)
	}
	if len(list) == 0 {
		warnings = append(warnings, path+" has no nameserver line that can be used")
	}
	return list, warnings, nil
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
