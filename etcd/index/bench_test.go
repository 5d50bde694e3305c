package index

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/mirror"
)

// million is how many records the index is measured with.
const million = 1_000_000

// records yields n records as services register: ten below each of n/10 names, in the order of etcd.
func records(n int) iter.Seq2[mirror.KV, error] {
	return func(yield func(mirror.KV, error) bool) {
		for i := range n {
			key := fmt.Sprintf("/skydns/test/zone/ns%02d/svc%05d/i%d", i/10/1000%100, i/10, i%10)
			value := fmt.Sprintf(`{"host":"10.%d.%d.%d","port":8080,"ttl":60}`, i>>16&255, i>>8&255, i&255)
			if !yield(mirror.KV{Key: key, Value: []byte(value), ModRevision: int64(i + 1)}, nil) {
				return
			}
		}
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkList lists a million records and reports what each costs in memory, and beyond its key and value.
func BenchmarkList(b *testing.B) {
	for b.Loop() {
		raw := 0
		for kv := range records(million) {
			raw += len(kv.Key) + len(kv.Value)
		}
		before := heap()
		x := New("/skydns", "test/zone", nil)
		x.Zone().Reset(at(million+1), records(million))
		after := heap()
		b.ReportMetric(float64(after-before)/million, "bytes/record")
		b.ReportMetric((float64(after-before)-float64(raw))/million, "beyond-raw/record")
		runtime.KeepAlive(x)
	}
}

func full(b *testing.B, n int) *Index {
	x := New("/skydns", "test/zone", nil)
	x.Zone().Reset(at(int64(n+1)), records(n))
	b.ResetTimer()
	return x
}

// BenchmarkPut makes changes visible, as many at once as one response of a watch may bring: single records when etcd is
// idle, and those of some milliseconds when it is busy. It reports what one record costs.
func BenchmarkPut(b *testing.B) {
	for _, n := range []int{100_000, million} {
		for _, together := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%d/%d at once", n, together), func(b *testing.B) {
				x := full(b, n)
				b.ReportAllocs()
				for i := 0; i < b.N; i += together {
					x.Zone().Apply(at(int64(n+2+i)), changes(n, i, together), nil)
				}
			})
		}
	}
}

// changes puts some of n records to another address.
func changes(n, i, count int) []mirror.KV {
	kvs := make([]mirror.KV, count)
	for k := range kvs {
		r := rand.IntN(n)
		kvs[k] = mirror.KV{
			Key:         fmt.Sprintf("/skydns/test/zone/ns%02d/svc%05d/i%d", r/10/1000%100, r/10, r%10),
			Value:       []byte(`{"host":"10.0.0.1","port":8080,"ttl":60}`),
			ModRevision: int64(n + 2 + i),
		}
	}
	return kvs
}

// BenchmarkAscend finds a name and the ten records below it.
func BenchmarkAscend(b *testing.B) {
	for _, n := range []int{100_000, million} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := full(b, n)
			names := make([]string, 4096)
			for i := range names {
				r := rand.IntN(n)
				names[i] = fmt.Sprintf("test/zone/ns%02d/svc%05d/", r/10/1000%100, r/10)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				left := 10
				x.Snapshot().Ascend(names[i%len(names)], func(string, *skydns.Record) bool {
					left--
					return left > 0
				})
			}
		})
	}
}
