package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// Report is the outcome of a check.
type Report struct {
	Corefile string    `json:"corefile"`
	OK       bool      `json:"ok"` // no problems
	Problems int       `json:"problems"`
	Warnings int       `json:"warnings"`
	Findings []Finding `json:"findings"`
}

// NewReport counts what was found. corefile is where it was read from.
func NewReport(corefile string, findings []Finding) Report {
	r := Report{Corefile: corefile, Findings: findings}
	if findings == nil {
		r.Findings = []Finding{} // in JSON a list, not null
	}
	for _, f := range findings {
		switch f.Level {
		case Problem:
			r.Problems++
		case Warning:
			r.Warnings++
		}
	}
	r.OK = r.Problems == 0
	return r
}

// WriteText writes the report for people: a line a finding, and one that sums them up.
func (r Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.Findings {
		place := f.File
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		text := f.Subject
		if f.Detail != "" {
			text += ": " + f.Detail
		}
		if _, err := fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Level, place, f.Plugin, text); err != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	verdict := "fine"
	if !r.OK {
		verdict = "not fine"
	}
	_, err := fmt.Fprintf(w, "%s is %s; problems: %d, warnings: %d\n", r.Corefile, verdict, r.Problems, r.Warnings)
	return err
}

// WriteJSON writes the report for programs, as one object.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
