package hostsfile

import (
	"errors"
	"fmt"
)

// Reason is why something in the text cannot be used. It serves as a metric label.
type Reason uint8

// The closed set of reasons.
const (
	BadAddress  Reason = iota // a line does not start with an IP address
	BadName                   // not a domain name
	BadEncoding               // a name with octets outside of ASCII
	TooLong                   // a field that is longer than any address or name
	NoName                    // an address without a name
	OverLimit                 // the receiver had no room for the entry
	numReasons
)

// Reasons lists them all.
func Reasons() []Reason {
	all := make([]Reason, numReasons)
	for i := range all {
		all[i] = Reason(i)
	}
	return all
}

// String returns the metric label.
func (r Reason) String() string {
	return [numReasons]string{"address", "name", "encoding", "long", "no_name", "limit"}[r]
}

// ErrSkip is what a receiver wraps to refuse one entry and go on with the next. Any other error ends the parsing.
var ErrSkip = errors.New("entry left out")

// maxProblems is how many problems a report describes; it counts them all.
const maxProblems = 5

// Problem is something in the text that cannot be used.
type Problem struct {
	Line   int // from 1
	Reason Reason
	Detail string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Detail) }

// Report says what came of a text.
type Report struct {
	Names    int             // entries given to the receiver and kept
	Unusable [numReasons]int // what could not be used
	First    []Problem       // the first problems
}

// Problems returns how many things in the text could not be used.
func (r *Report) Problems() int {
	n := 0
	for _, c := range r.Unusable {
		n += c
	}
	return n
}

func (r *Report) problem(line int, reason Reason, format string, args ...any) {
	r.Unusable[reason]++
	if len(r.First) < maxProblems {
		r.First = append(r.First, Problem{line, reason, fmt.Sprintf(format, args...)})
	}
}
