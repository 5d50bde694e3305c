package backend

import (
	"slices"
	"testing"
)

// row is one fault of the in-tree plugin, by its number, with the right behaviour.
type row struct {
	name     string
	records  string
	settings func(*Settings)
	outside  answers
	asks     map[string]string // "NAME TYPE" to what show gives
}

func exact(s *Settings) { s.Mode = Exact }

// Every row of what users of the in-tree plugin hit, that is about an answer.
func TestRows(t *testing.T) {
	for _, tt := range slices.Concat(nameRows, chainRows, recordRows) {
		t.Run(tt.name, func(t *testing.T) {
			check(t, tt, "zone.test.", "other.test.", "in-addr.arpa.")
		})
	}
}

func check(t *testing.T, tt row, zones ...string) {
	t.Helper()
	m := newMemory(t, zones, tt.records)
	s := Defaults()
	if tt.settings != nil {
		tt.settings(&s)
	}
	for question, w := range tt.asks {
		if got := show(ask(t, m, s, question, tt.outside)); got != want(w) {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", question, got, want(w))
		}
	}
}
