package skydns

import "testing"

func BenchmarkParse(b *testing.B) {
	for name, value := range map[string]string{
		"plain":   `{"host":"10.0.0.1","port":8080,"ttl":60}`,
		"escapes": `{"host":"10.0.0.1","text":"\"heritage=external-dns,external-dns/owner=me\"","targetstrip":1}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse([]byte(value), 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
