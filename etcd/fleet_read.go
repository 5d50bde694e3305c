package etcd

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// fleetConfig is what the object says that a fleet of servers shares: the configuration of SkyDNS, as far as it has a
// meaning here. What is zero or nil was not said.
type fleetConfig struct {
	ttl, minTTL uint32
	priority    uint16
	hostmaster  string // as a name
	ndots       int
	noRec       bool
	nameservers []netip.AddrPort
}

// defaultNdots is SkyDNS's: how many labels a name must have to be sent on.
const defaultNdots = 2

// maxNameservers bounds the name servers of the object: each has connections and health of its own.
const maxNameservers = 16

// instead tells what takes the place of what the object may say and has no effect here.
var instead = map[string]string{
	"dns_addr":     "the address and port of the server block, and bind",
	"systemd":      "bind: sockets are not taken over from systemd",
	"domain":       "the zones of the etcd block",
	"local":        "local of the etcd block",
	"dnssec":       "the dnssec plugin",
	"round_robin":  "the loadbalance plugin",
	"ns_rotate":    "nothing: name servers are asked in turns",
	"read_timeout": "nothing: name servers have five seconds in all",
	"scache":       "cache_capacity of the dnssec plugin",
	"rcache":       "the cache plugin",
	"rcache_ttl":   "the cache plugin, which keeps to the TTLs of records",
	"etcd3":        "nothing: it is always version 3",
	"verbose":      "the log plugin",
}

// errNoCounterpart is the error of what the object may say and has no effect here.
var errNoCounterpart = errors.New("does not apply")

// readFleet reads the object. A value that is of no use is left out and told in bad, by its name; err says that there is
// no object at all.
func readFleet(data []byte) (c fleetConfig, bad map[string]error, err error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return c, nil, fmt.Errorf("want a JSON object: %w", err)
	}
	bad = map[string]error{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if err := c.read(strings.ToLower(name), object[name]); err != nil {
			bad[name] = err
		}
	}
	return c, bad, nil
}

func (c *fleetConfig) read(name string, value json.RawMessage) (err error) {
	var n uint64
	switch name {
	case "ttl":
		n, err = wholeNumber(value, math.MaxInt32)
		c.ttl = uint32(n)
	case "min_ttl":
		n, err = wholeNumber(value, math.MaxInt32)
		c.minTTL = uint32(n)
	case "priority":
		n, err = wholeNumber(value, math.MaxUint16)
		c.priority = uint16(n)
	case "ndot", "ndots": // SkyDNS reads the first, and documents the second
		n, err = wholeNumber(value, maxLabels)
		c.ndots = int(n)
	case "hostmaster":
		c.hostmaster, err = readHostmaster(value)
	case "no_rec":
		if err = json.Unmarshal(value, &c.noRec); err != nil {
			err = errors.New("want true or false")
		}
	case "nameservers":
		c.nameservers, err = readNameservers(value)
	default:
		if hint := instead[name]; hint != "" {
			return fmt.Errorf("%w, what does is %s", errNoCounterpart, hint)
		}
		return errors.New("is unknown")
	}
	return err
}

// maxLabels is how many labels a name can have: RFC 1035, section 3.1.
const maxLabels = 127

// wholeNumber reads a number, in quotes or not. 0 stands for the default, as it does to SkyDNS.
func wholeNumber(value json.RawMessage, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(strings.Trim(string(value), `"`), 10, 64)
	if err != nil || n > most {
		return 0, fmt.Errorf("want a whole number from 0 to %d", most)
	}
	return n, nil
}

func readHostmaster(value json.RawMessage) (string, error) {
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return "", errors.New("want a mail address or a name")
	}
	if s == "" {
		return "", nil
	}
	return parseMailbox(s)
}

// readNameservers reads a list of addresses, with or without ports. Some that are of no use leave the others.
func readNameservers(value json.RawMessage) (servers []netip.AddrPort, err error) {
	var list []string
	if err := json.Unmarshal(value, &list); err != nil {
		return nil, errors.New("want a list of addresses")
	}
	for _, s := range list {
		at, parseErr := netip.ParseAddrPort(s)
		if parseErr != nil {
			var addr netip.Addr
			if addr, parseErr = netip.ParseAddr(strings.Trim(s, "[]")); parseErr == nil {
				at = netip.AddrPortFrom(addr, dnsPort)
			}
		}
		switch {
		case parseErr != nil || at.Port() == 0:
			err = fmt.Errorf("%q is no ADDRESS or ADDRESS:PORT", s)
		case slices.Contains(servers, at):
		case len(servers) == maxNameservers:
			err = fmt.Errorf("more than %d", maxNameservers)
		default:
			servers = append(servers, at)
		}
	}
	return servers, err
}
