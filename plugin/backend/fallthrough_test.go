package backend

import "testing"

// What fell through in-tree still does: questions that no key could have been about.
func TestMissingIsWhatFellThrough(t *testing.T) {
	const records = `
		/skydns/test/zone/leaf {"host":"10.0.0.1"}
		/skydns/test/zone/acme {"text":"tok"}
		/skydns/test/zone/svc/x {"host":"10.0.0.2"}
		/skydns/test/zone/wild/*/x {"host":"10.0.0.3"}`
	noFallback := func(s *Settings) { s.NoApexFallback = true }
	for _, tt := range []struct {
		question string
		settings func(*Settings)
		want     bool
	}{
		{"leaf.zone.test. A", nil, false},
		{"leaf.zone.test. AAAA", nil, false},
		{"leaf.zone.test. CNAME", nil, false},
		{"leaf.zone.test. HINFO", nil, false},
		{"acme.zone.test. A", nil, false}, // E9: a name with a key has no data, and does not fall through
		{"none.zone.test. A", nil, true},
		{"none.zone.test. SRV", nil, true},
		{"none.zone.test. HINFO", nil, true},
		{"none.zone.test. SOA", nil, true},
		{"x.leaf.zone.test. A", nil, true},
		{"svc.zone.test. A", nil, false},
		{"svc.zone.test. CNAME", nil, true},
		{"svc.zone.test. PTR", nil, true},
		{"any.wild.zone.test. CNAME", nil, true},
		{"a.wild.zone.test. A", nil, false},
		{"zone.test. NS", nil, true},
		{"zone.test. A", nil, false},
		{"zone.test. A", noFallback, true},
		{"zone.test. AAAA", noFallback, true},
		{"zone.test. HINFO", noFallback, true},
		{"zone.test. HINFO", nil, false},
		{"zone.test. TXT", nil, false},
		{"zone.test. SOA", noFallback, false},
		{"empty.test. A", nil, true},
		{"empty.test. MX", nil, true},
	} {
		m := newMemory(t, []string{"zone.test.", "empty.test."}, records)
		s := Defaults()
		if tt.settings != nil {
			tt.settings(&s)
		}
		if got := ask(t, m, s, tt.question, nil).Missing; got != tt.want {
			t.Errorf("%s (%t): missing %t, want %t", tt.question, tt.settings != nil, got, tt.want)
		}
	}
}
