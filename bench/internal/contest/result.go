package contest

import (
	"fmt"
	"strings"
)

// Result is what a row found out.
type Result struct {
	Row     string  `json:"row"`
	Title   string  `json:"title"`
	Counted string  `json:"counted,omitempty"` // what Work of the samples is
	Entries []Entry `json:"entries"`
}

// Entry is a contender in a result.
type Entry struct {
	Name    string   `json:"name"`
	Stock   bool     `json:"stock,omitempty"`
	Problem string   `json:"problem,omitempty"` // why there are no samples, or fewer
	Samples []Sample `json:"samples"`
	Median  *Sample  `json:"median,omitempty"`
	// Ratio is the median rate by that of stock, 0 if there is none.
	Ratio float64 `json:"ratio,omitempty"`
}

// idle is below which part of its core a server was not what limited the rate.
const idle = 0.9

// Finish computes the medians and ratios.
func (r *Result) Finish() {
	stock := 0.0
	for i := range r.Entries {
		e := &r.Entries[i]
		if len(e.Samples) == 0 {
			continue
		}
		m := middle(e.Samples)
		e.Median = &m
		if e.Stock {
			stock = m.Rate
		}
	}
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Median != nil && stock > 0 {
			e.Ratio = e.Median.Rate / stock
		}
	}
}

// Failed names the contenders that failed.
func (r *Result) Failed() (names []string) {
	for _, e := range r.Entries {
		if e.Problem == "failed" {
			names = append(names, r.Row+": "+e.Name)
		}
	}
	return names
}

// Markdown is the result as a table for a document.
func (r *Result) Markdown() string {
	head := []string{r.Title, "answers a second", "ratio", "CPU a question", "p50", "p99", "lost"}
	if r.Counted != "" {
		head = append(head, r.Counted)
	}
	rows := [][]string{head}
	limited := false
	for _, e := range r.Entries {
		if e.Median == nil {
			rows = append(rows, append([]string{e.Name, e.Problem}, make([]string, len(head)-2)...))
			continue
		}
		m := e.Median
		rate := Thousands(m.Rate)
		if m.Busy < idle {
			limited = true
			rate += " *"
		}
		row := []string{e.Name, rate, fmt.Sprintf("%.2f", e.Ratio), fmt.Sprintf("%.1f µs", micros(m.CPU)),
			fmt.Sprintf("%.2f ms", micros(m.P50)/1000), fmt.Sprintf("%.2f ms", micros(m.P99)/1000), fmt.Sprintf("%.2f %%", 100*m.Lost)}
		if r.Counted != "" {
			row = append(row, fmt.Sprintf("%.4f", m.Work))
		}
		rows = append(rows, row)
	}
	text := Table(rows)
	if limited {
		text += "\n\\* The server's core was not busy all the time: what is on the other core set the limit.\n"
	}
	return text
}

// Table is a table in Markdown; the first row is its head.
func Table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
		}
	}
	return b.String()
}

// Thousands writes a number without fraction, with commas.
func Thousands(f float64) string {
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
