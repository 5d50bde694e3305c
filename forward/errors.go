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
	// ErrBudget: the time for the question was over before an upstream could be asked.
	ErrBudget = errors.New("no time left to ask an upstream")
)

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
	}
	return dns.RcodeServerFailure
}
