package forward

import (
	"fmt"
	"testing"
)

func TestTerritory(t *testing.T) {
	for _, tt := range []struct {
		zones, except []string
		name          string
		want          bool
	}{
		{[]string{"."}, nil, "example.org.", true},
		{[]string{"."}, nil, ".", true},
		{[]string{"."}, []string{"example.org."}, "example.org.", false},
		{[]string{"."}, []string{"example.org."}, "a.b.example.org.", false},
		{[]string{"."}, []string{"example.org."}, "anexample.org.", true},
		{[]string{"."}, []string{"example.org."}, "org.", true},
		{[]string{"."}, []string{"."}, ".", true}, // FROM itself, always
		{[]string{"."}, []string{"."}, "org.", false},
		{[]string{"example.org."}, nil, "example.org.", true},
		{[]string{"example.org."}, nil, "a.example.org.", true},
		{[]string{"example.org."}, nil, "org.", false},
		{[]string{"example.org."}, nil, "example.com.", false},
		{[]string{"example.org."}, []string{"org."}, "example.org.", true}, // FROM itself, always
		{[]string{"example.org."}, []string{"org."}, "a.example.org.", false},
		{[]string{"example.org."}, []string{"b.example.org."}, "a.b.example.org.", false},
		{[]string{"8.9.10.in-addr.arpa.", "9.9.10.in-addr.arpa."}, nil, "1.9.9.10.in-addr.arpa.", true},
		{[]string{"8.9.10.in-addr.arpa.", "9.9.10.in-addr.arpa."}, nil, "1.7.9.10.in-addr.arpa.", false},
		{[]string{`a\.b.org.`}, nil, `a\.b.org.`, true},
		{[]string{`a\046b.org.`}, nil, `a\.b.org.`, true}, // two spellings of one name
		{[]string{"b.org."}, nil, `a\.b.org.`, false},
	} {
		if got := newTerritory(tt.zones, tt.except).contains(tt.name); got != tt.want {
			t.Errorf("%v except %v: %s is inside: %t, want %t", tt.zones, tt.except, tt.name, got, tt.want)
		}
	}
}

// The list of exceptions of E6 has 70,000 names. Compare the two rows.
func BenchmarkTerritory(b *testing.B) {
	for _, n := range []int{1, 70000} {
		except := make([]string, n)
		for i := range except {
			except[i] = fmt.Sprintf("blocked%d.example.", i)
		}
		t := newTerritory([]string{"."}, except)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !t.contains("www.cluster.example.org.") {
					b.Fatal("not inside")
				}
			}
		})
	}
}
