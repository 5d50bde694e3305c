package main

import (
	"errors"
	"fmt"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/form"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// The exit codes, which docs/skyctl.md promises.
const (
	exitOK       = 0
	exitFailed   = 1 // etcd or a file could not be read or written
	exitUsage    = 2 // the command line makes no sense
	exitNotFound = 3 // there is no such record
	exitRefused  = 4 // the server would not serve this
	exitFindings = 5 // lint found something
	exitChanged  = 6 // somebody else wrote the same keys meanwhile
)

// coded is an error with an exit code.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

func withCode(code int, err error) error { return coded{err, code} }

func usagef(format string, args ...any) error {
	return withCode(exitUsage, fmt.Errorf(format, args...))
}

// errFindings has no text: the findings have been told.
var errFindings = errors.New("")

// codeOf is the exit code of an error. What fails before a command begins is the command line.
func codeOf(err error, began bool) int {
	var c coded
	var reason skydns.Reason
	switch {
	case errors.As(err, &c):
		return c.code
	case !began:
		return exitUsage
	case errors.As(err, &reason), errors.Is(err, form.ErrSyntax), errors.Is(err, record.ErrClass), errors.Is(err, store.ErrTooLarge):
		return exitRefused
	case errors.Is(err, store.ErrChanged):
		return exitChanged
	default:
		return exitFailed
	}
}
