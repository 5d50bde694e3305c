//go:build linux

package fastudp

import (
	"errors"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/test/server"
)

// BenchmarkQuestions asks a server with and without fastudp, 100 questions at a time, and reports the processor time of
// the whole process a question: the client's share, which is the same for both, included.
func BenchmarkQuestions(b *testing.B) {
	for _, tt := range []struct{ name, directives string }{
		{"stock", ""}, {"fastudp", "fastudp"}, {"shed", "shed"}, {"shed+fastudp", "shed\n fastudp"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			port := freeport.Port(b)
			s := server.StartUnchecked(b, bound(port, tt.directives))
			if tt.directives == "fastudp" {
				eventually(b, "fastudp serves", func() bool { return served("dns://127.0.0.1:"+port) > 0 })
			}
			client, err := mmsg.Listen("127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			wire := question(b, 1, "www.plain.")
			to := &mmsg.Received(nil, netip.MustParseAddrPort(s.Addr())).From
			batch := make([]mmsg.Message, mmsg.MaxBatch)
			for i := range batch {
				batch[i] = mmsg.Message{Data: wire, To: to}
			}
			reader, writer := client.NewReader(), client.NewWriter()
			const window = 100
			b.ReportAllocs()
			before := cpuTime()
			b.ResetTimer()
			for sent, got := 0, 0; got < b.N; {
				if n := min(window-(sent-got), b.N-sent, mmsg.MaxBatch); n > 0 {
					n, err := writer.Write(batch[:n])
					if err != nil {
						b.Fatal(err)
					}
					sent += n
					continue
				}
				_ = client.SetReadDeadline(time.Now().Add(time.Second))
				replies, err := reader.Read()
				if errors.Is(err, os.ErrDeadlineExceeded) {
					b.Fatalf("%d of %d questions lost", sent-got, sent)
				}
				for _, d := range replies {
					d.Release()
				}
				got += len(replies)
			}
			b.StopTimer()
			b.ReportMetric(float64((cpuTime()-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
