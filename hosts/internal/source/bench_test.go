package source

import (
	"bytes"
	"fmt"
	"testing"
)

// A list of a million names, from text to table.
func BenchmarkParse(b *testing.B) {
	var text bytes.Buffer
	for i := range 1000000 {
		fmt.Fprintf(&text, "0.0.0.0 ad%07d.tr%05d.example\n", i, i/4)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Parse("x", Hosts, bytes.NewReader(text.Bytes()), int64(text.Len())); err != nil {
			b.Fatal(err)
		}
	}
}
