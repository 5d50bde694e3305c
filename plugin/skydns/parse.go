package skydns

import (
	"fmt"
	"net/netip"
	"strings"
)

// maxText is the longest text that is served: with its length bytes, the header of the message and the longest
// question it is just short of the 65,535 bytes of a message.
const maxText = 64000

// Parse reads the value of a key that hangs on the given lease, 0 for none. Its errors wrap a Reason.
func Parse(data []byte, lease int64) (*Record, error) {
	v, err := Decode(data)
	if err != nil {
		return nil, err
	}
	return v.Record(lease)
}

// Record checks v and returns what is served for it. Its errors wrap a Reason.
func (v Value) Record(lease int64) (*Record, error) {
	r := &Record{
		lease: lease, ttl: v.TTL, port: v.Port, priority: v.Priority, weight: v.Weight,
		strip: v.TargetStrip, mail: v.Mail,
	}
	if v.TTL > MaxTTL {
		return nil, fmt.Errorf("%w: ttl %d is more than %d", ReasonNumber, v.TTL, MaxTTL)
	}
	if len(v.Text) > maxText {
		return nil, fmt.Errorf("%w: %d bytes are more than %d", ReasonText, len(v.Text), maxText)
	}
	var err error
	if r.host, r.kind, err = parseHost(v.Host); err != nil {
		return nil, err
	}
	rr, err := parseRR(v.Type, v.RData)
	if err != nil {
		return nil, err
	}
	if rr != nil && r.kind != NoHost {
		return nil, fmt.Errorf("%w: %s beside a host", ReasonType, v.Type)
	}
	if v.Text != "" || v.Group != "" || rr != nil {
		r.more = &more{text: v.Text, group: v.Group, rr: rr, rdata: v.RData}
	}
	return r, nil
}

// parseHost returns the bytes of an address, or a name with its last dot.
func parseHost(host string) (string, Kind, error) {
	host = strings.TrimSpace(host)
	if host == "" {
		return "", NoHost, nil
	}
	if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") && strings.Contains(inner, ":") {
		host = strings.TrimSuffix(inner, "]") // an IPv6 address as URLs have it
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		if addr = addr.Unmap(); addr.Is4() {
			ip := addr.As4()
			return string(ip[:]), IPv4, nil
		}
		ip := addr.As16()
		return string(ip[:]), IPv6, nil
	}
	name, err := CheckName(host)
	if err != nil {
		return "", NoHost, fmt.Errorf("%w: %w", ReasonHost, err)
	}
	// No top level domain is a number, and a resolver would ask for this as an address.
	if isNumber(lastLabel(name)) {
		return "", NoHost, fmt.Errorf("%w: %q is neither an address nor a name", ReasonHost, host)
	}
	return name, Name, nil
}

func lastLabel(name string) string {
	name = strings.TrimSuffix(name, ".")
	return name[strings.LastIndexByte(name, '.')+1:]
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
