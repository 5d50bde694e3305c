package main

import (
	"fmt"
	"strings"
)

// secondsTable writes a run second by second, in Markdown.
func secondsTable(r row, c contender, seconds []second) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s: %s, from second %d; %s\n\n", r.name, r.what, r.fault(), c.name)
	b.WriteString("| second | p50 | p99 | p99.9 | slowest | SERVFAIL | no answer | queries a question |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for i, s := range seconds {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %d | %d | %.2f |\n", i, rounded(s.percentile(0.5)), rounded(s.percentile(0.99)),
			rounded(s.percentile(0.999)), rounded(s.percentile(1)), s.servfails, s.unanswered, s.amplification())
	}
	return b.String()
}

// verdictTable writes what was found of all runs, in Markdown. What misses its target is set in bold.
func verdictTable(verdicts []verdict) string {
	columns := []string{"failures", "p99, 1st s", "p99 later", "amplification", "recovery"}
	var b strings.Builder
	fmt.Fprintf(&b, "| fault | server | %s |\n| --- | --- |%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, v := range verdicts {
		fmt.Fprintf(&b, "| %s | %s |", v.row, v.server)
		for _, column := range columns {
			cell := ""
			for _, t := range v.targets {
				switch {
				case t.name != column:
				case t.met:
					cell = t.found
				default:
					cell = "**" + t.found + "**"
				}
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteString("\n")
	}
	return b.String()
}
