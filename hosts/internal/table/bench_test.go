package table

import (
	"fmt"
	"net/netip"
	"testing"
)

var sizes = []struct {
	name string
	n    int
}{{"1k", 1_000}, {"100k", 100_000}, {"1M", 1_000_000}}

func big(b *testing.B, n int) *Table {
	b.Helper()
	t := NewBuilder(n)
	for i := range n {
		if err := t.Add(pack(b, fmt.Sprintf("ad%07d.tr%05d.example.", i, i/4)), netip.IPv4Unspecified()); err != nil {
			b.Fatal(err)
		}
	}
	return t.Table()
}

// Lookups of names all over the table, as a server does them: text to question, hash, look.
func BenchmarkFind(b *testing.B) {
	for _, size := range sizes {
		tab := big(b, size.n)
		for _, kind := range []string{"hit", "miss"} {
			b.Run(kind+"/"+size.name, func(b *testing.B) {
				asked := make([]string, 1<<12)
				for i := range asked {
					n := i * 7919 % size.n
					asked[i] = fmt.Sprintf("ad%07d.tr%05d.example.", n, n/4)
					if kind == "miss" {
						asked[i] = "x" + asked[i]
					}
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					var q Question
					if q.Set(asked[i&(len(asked)-1)]) != nil {
						b.Fatal("no name")
					}
					i++
					m, ref := tab.Find(q.Key(0))
					if (m == Exact) != (kind == "hit") {
						b.Fatal("wrong answer")
					}
					if m == Exact {
						_ = tab.Addr(ref, 0)
					}
				}
			})
		}
	}
}
