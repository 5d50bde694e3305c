package forward

import (
	"errors"
	"fmt"
	"strings"

	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// Questions that end without a reply to pass on end with one of these, or with the last upstream's error.
var (
	// ErrNoHealthy: every upstream is down and none was asked. The wording is that of the in-tree plugin: the rules of the
	// errors plugin match on it.
	ErrNoHealthy = errors.New("no healthy proxies")
	// ErrNoUpstream: no host name of the block has an address yet.
	ErrNoUpstream = errors.New("no upstream has an address yet")
	// ErrWaited: somebody else's question of the same kind took too long. It ends like the time-out of a connection.
	ErrWaited = fmt.Errorf("waiting for the reply to the same question: %w: i/o timeout", upstream.ErrTimeout)
	// ErrAbandoned: whoever asked the same question gave up without a result.
	ErrAbandoned = errors.New("the same question was given up")
	// ErrBudget: the time for the question was over before an upstream could be asked.
	ErrBudget = errors.New("no time left to ask an upstream")
)

// limitError says that a question was refused because too many were under way.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// explain says which upstream err is from. The end of the text of a time-out is what it always was, since the rules of
// the errors plugin match on that, too.
func explain(addr string, err error) error {
	const timeout = "i/o timeout"
	if errors.Is(err, upstream.ErrTimeout) && !strings.HasSuffix(err.Error(), timeout) {
		return fmt.Errorf("upstream %s: %w: %s", addr, err, timeout)
	}
	return fmt.Errorf("upstream %s: %w", addr, err)
}

// failure is the rcode for a question that ended with err.
func failure(err error) int {
	switch {
	case errors.Is(err, upstream.ErrRequest):
		return dns.RcodeFormatError
	case errors.Is(err, upstream.ErrUnsupported):
		return dns.RcodeNotImplemented
	case limited(err):
		return dns.RcodeRefused
	}
	return dns.RcodeServerFailure
}

// reasons explain errors to clients (RFC 8914, section 4): the code to programs, the text to people. The first that fits
// counts.
var reasons = []struct {
	err  error
	code uint16
	text string
}{
	{ErrNoUpstream, dns.ExtendedErrorCodeNotReady, "no upstream has an address yet"},
	{ErrNoHealthy, dns.ExtendedErrorCodeNoReachableAuthority, "all upstreams are down"},
	{ErrBudget, dns.ExtendedErrorCodeNoReachableAuthority, "no time left to ask an upstream"},
	{upstream.ErrTimeout, dns.ExtendedErrorCodeNoReachableAuthority, "no upstream replied in time"},
	{upstream.ErrRefused, dns.ExtendedErrorCodeNoReachableAuthority, "upstreams are unreachable"},
	{upstream.ErrDial, dns.ExtendedErrorCodeNoReachableAuthority, "cannot connect to upstreams"},
	{upstream.ErrTLS, dns.ExtendedErrorCodeNetworkError, "TLS handshake with an upstream failed"},
	{upstream.ErrClosed, dns.ExtendedErrorCodeNetworkError, "an upstream closed the connection"},
	{upstream.ErrMalformed, dns.ExtendedErrorCodeInvalidData, "the reply of an upstream is malformed"},
	{upstream.ErrMismatch, dns.ExtendedErrorCodeInvalidData, "the reply of an upstream is to another question"},
	{upstream.ErrHTTP, dns.ExtendedErrorCodeNetworkError, "an upstream sent no DNS response over HTTP"},
	{upstream.ErrProtocol, dns.ExtendedErrorCodeNetworkError, "an upstream broke the rules of its transport"},
}

// limited tells whether nothing was sent because of a limit, of the block or of an upstream.
func limited(err error) bool {
	var e *limitError
	return errors.Is(err, upstream.ErrLimited) || errors.As(err, &e)
}

// reason is what a client is told about err.
func reason(err error) (code uint16, text string) {
	if limited(err) {
		return dns.ExtendedErrorCodeOther, "refused by a limit"
	}
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.code, r.text
		}
	}
	return dns.ExtendedErrorCodeOther, "cannot be forwarded"
}
