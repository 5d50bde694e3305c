// Package trial lets plugins say, during their set-up, what of their configuration can be tried without serving it: that
// a list loads, that a name resolves, that etcd answers. A dry run begins a [Plan] for a caddy instance, runs the set-up
// of the plugins, and then what they offered. When a server starts there is no plan, and an offer costs a look into a
// map.
//
// What is offered must open no listener and change nothing, on disk or elsewhere.
package trial

import (
	"context"
	"fmt"
	"strings"
)

// Level says what a finding means for whoever wants to serve the configuration.
type Level uint8

// The levels, from the best to the worst.
const (
	OK      Level = iota // as it should be
	Skipped              // not tried
	Warning              // serves, but probably not as meant
	Problem              // does not start, or lacks what it was told to serve
)

// String returns the level as it appears in reports.
func (l Level) String() string {
	switch l {
	case OK:
		return "ok"
	case Skipped:
		return "skipped"
	case Warning:
		return "warning"
	case Problem:
		return "problem"
	}
	return "unknown"
}

// MarshalText implements encoding.TextMarshaler.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is what one look at one thing came to. It holds no secret.
type Finding struct {
	Level   Level  `json:"level"`
	File    string `json:"file,omitempty"` // of the Corefile, or what it imports
	Line    int    `json:"line,omitempty"` // where the directive is, from 1
	Plugin  string `json:"plugin"`         // or corefile
	Subject string `json:"subject"`        // what was looked at
	Detail  string `json:"detail,omitempty"`
}

// Found makes a finding about the subject of a test. The plan adds where it belongs.
func Found(level Level, format string, args ...any) Finding {
	return Finding{Level: level, Detail: oneLine(fmt.Sprintf(format, args...))}
}

// oneLine keeps what an error says from looking like several findings.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Test is one thing to try.
type Test struct {
	// Subject names it: "list https://lists.example.org/ads", "name dns.example.org".
	Subject string
	// Network says that it asks another machine, or this one through the network: not for a check without network.
	Network bool
	// Run tries it. It must end soon after ctx, and may run beside others. A finding without a subject gets that of the
	// test.
	Run func(ctx context.Context) []Finding
}
