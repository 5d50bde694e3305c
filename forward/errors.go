package forward

import "errors"

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
