package forward

import (
	"fmt"

	"github.com/trident-dns/trident/internal/upstream"
)

// check looks at what properties mean together, and fills in the defaults that depend on others. What makes no sense but
// does no harm is a warning.
func (b *block) check() (warnings []string, err error) {
	if b.maxAge > 0 && b.maxAge < b.expire {
		return nil, fmt.Errorf("max_age (%s) must not be less than expire (%s)", b.maxAge, b.expire)
	}
	if b.budget == 0 {
		b.budget = max(defaultBudget, b.readTimeout)
	}
	secure := false
	for _, e := range b.to {
		secure = secure || e.transport != upstream.DNS
		if e.serverName == "" || b.serverName == "" {
			continue
		}
		if e.transport != upstream.HTTPS {
			return nil, fmt.Errorf("both forward ('%s') and proxy level ('%s') TLS servernames are set for upstream proxy '%s'",
				b.serverName, e.serverName, e)
		}
		warnings = append(warnings, fmt.Sprintf("%s: tls_servername %s is verified instead of %s", e, b.serverName,
			e.serverName))
	}
	if !secure && (b.tls != nil || b.serverName != "") {
		warnings = append(warnings, "tls and tls_servername have no meaning without an upstream that uses TLS")
	}
	for _, e := range b.to {
		if e.addr.IsValid() && !b.sends(e.addr) {
			warnings = append(warnings, fmt.Sprintf("%s is not asked from source_address %s, which is of the other family",
				e, b.source))
		}
	}
	if b.readTimeout > b.budget {
		warnings = append(warnings, fmt.Sprintf("read_timeout %s is never reached: the timeout of all attempts together is %s",
			b.readTimeout, b.budget))
	}
	return warnings, nil
}
