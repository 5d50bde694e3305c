package hosts

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/coredns/coredns/plugin/ready"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
)

// ready asks the ready plugin.
func ready(t testing.TB, addr string) bool {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + addr + "/ready")
	if err != nil {
		return false
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode == http.StatusOK
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// Every block has to have its data, not only the last one that ready knows.
func TestReadyWaitsForEveryBlock(t *testing.T) {
	bad := write(t, "this is no hosts file\n")
	addr := freeAddr(t)
	s := server.Start(t, fmt.Sprintf(`
example.org:0 {
    hosts %s {
        reload 10ms
    }
    ready %s
}
example.net:0 {
    hosts %s
}
`, bad, addr, write(t, "10.0.0.1 a.example.net\n")))
	check(t, s, []question{{"a.example.org.", dns.TypeA, "SERVFAIL"}})
	if ready(t, addr) {
		t.Error("ready although a block has nothing but a file of nonsense")
	}
	if err := os.WriteFile(bad, []byte("10.0.0.2 a.example.org\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ready", func() bool { return ready(t, addr) })
	check(t, s, []question{{"a.example.org.", dns.TypeA, "10.0.0.2"}})
}

func TestAMissingFileDoesNotKeepFromBeingReady(t *testing.T) {
	addr := freeAddr(t)
	server.Start(t, fmt.Sprintf(".:0 {\n hosts %s\n ready %s\n}\n", filepath.Join(t.TempDir(), "missing"), addr))
	eventually(t, "ready", func() bool { return ready(t, addr) })
}

// A list from the web is there on the next start before the web is.
func TestALiveListFromAURL(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("0.0.0.0 ads.example\n"))
	}))
	defer web.Close()
	names := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("10.0.0.1 a.example\n"))
	}))
	defer names.Close()
	body := fmt.Sprintf("block %s/list\nurl %s/hosts\ncache_dir %s", web.URL, names.URL, t.TempDir())
	t.Run("first start", func(t *testing.T) {
		s := serve(t, "/dev/null", body)
		eventually(t, "blocked", func() bool { return describe(s.Ask(t, "ads.example.", dns.TypeA)) == "0.0.0.0" })
		eventually(t, "answered", func() bool { return describe(s.Ask(t, "a.example.", dns.TypeA)) == "10.0.0.1" })
	})
	web.Close()
	names.Close()
	t.Run("second start", func(t *testing.T) {
		s := serve(t, "/dev/null", body)
		check(t, s, []question{
			{"ads.example.", dns.TypeA, "0.0.0.0"},
			{"a.example.", dns.TypeA, "10.0.0.1"},
		})
	})
}

func TestMetricsOfASource(t *testing.T) {
	file := write(t, "10.0.0.1 a b\n10.0.0.2 a\n*.c 10.0.0.3\n10.0.0.4 d..e\n10.0.0.4 \xff\n")
	start := float64(time.Now().Unix())
	var s *server.Server
	t.Run("running", func(t *testing.T) {
		s = serve(t, file, "reload 10ms\n10.0.0.1 inline")
		for what, pair := range map[string][2]float64{
			"entries":        {value(t, entries.WithLabelValues(file)), 3},
			"inline entries": {value(t, entries.WithLabelValues("inline")), 1},
			"up":             {value(t, up.WithLabelValues(file)), 1},
			"failures":       {value(t, loadFailures.WithLabelValues(file)), 0},
			"bad addresses":  {value(t, parseErrors.WithLabelValues(file, "address")), 1},
			"bad names":      {value(t, parseErrors.WithLabelValues(file, "name")), 1},
			"bad encodings":  {value(t, parseErrors.WithLabelValues(file, "encoding")), 1},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
			}
		}
		for what, m := range map[string]prometheus.Metric{
			"last success": lastSuccess.WithLabelValues(file), "last attempt": lastAttempt.WithLabelValues(file),
			"reload": reloadTime, "size": tableSize.WithLabelValues(file),
		} {
			if got := value(t, m); got < start && what != "size" || got == 0 {
				t.Errorf("%s: %v, the test started at %v", what, got, start)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		eventually(t, "down", func() bool { return value(t, up.WithLabelValues(file)) == 0 })
		eventually(t, "failing", func() bool { return value(t, loadFailures.WithLabelValues(file)) > 1 })
		check(t, s, []question{{"a.", dns.TypeA, "10.0.0.1 10.0.0.2"}})
	})
	if n := series(t, file); n != 0 {
		t.Errorf("%d series of the file are left after the server stopped", n)
	}
	if got := value(t, entries.WithLabelValues("inline")); got != 0 {
		t.Errorf("%v inline entries are left after the server stopped", got)
	}
}

// series counts the time series that have a label of the given value.
func series(t testing.TB, label string) int {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetValue() == label {
					n++
				}
			}
		}
	}
	return n
}

// While the file and the Corefile are replaced again and again, every question is answered, with the old or the new.
func TestQuestionsDuringReloads(t *testing.T) {
	text := func(n int) string {
		return strings.Repeat(fmt.Sprintf("10.0.0.%d filler.example.org\n", n), 50) + fmt.Sprintf("10.0.0.%d a.example.org\n", n)
	}
	file := write(t, text(1))
	corefile := func(ttl int) string {
		return fmt.Sprintf(".:0 {\n hosts %s {\n ttl %d\n reload 1ms\n nxdomain\n}\n}\n", file, ttl)
	}
	s := server.Start(t, corefile(1))
	addr := s.Addr()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c := &dns.Client{Timeout: 10 * time.Second}
			m := new(dns.Msg)
			m.SetQuestion("a.example.org.", dns.TypeA)
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, _, err := c.Exchange(m, addr)
				if err != nil || len(r.Answer) != 1 {
					t.Errorf("%v, %v", r, err)
					return
				}
			}
		})
	}
	for n := 2; n < 8; n++ {
		tmp := file + ".new"
		if err := os.WriteFile(tmp, []byte(text(n)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(tmp, file); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("10.0.0.%d", n)
		eventually(t, "changed", func() bool { return describe(s.Ask(t, "a.example.org.", dns.TypeA)) == want })
	}
	close(stop)
	wg.Wait()
}
