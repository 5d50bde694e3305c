package skyconf

import (
	"fmt"
	"strings"
)

// writer writes a Corefile, indented.
type writer struct {
	b     strings.Builder
	depth int
}

func (w *writer) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat("    ", w.depth))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *writer) open(format string, args ...any) {
	w.line(format+" {", args...)
	w.depth++
}

func (w *writer) shut() {
	w.depth--
	w.line("}")
}

// quote writes a word so that the Corefile has it as one.
func quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\r\n\"{}#") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}
