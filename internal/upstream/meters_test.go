package upstream

import (
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// seriesOf lists the series of a proxy_name.
func seriesOf(t *testing.T, name string) map[string][]*dto.Metric {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string][]*dto.Metric)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "proxy_name" && l.GetValue() == name {
					found[family.GetName()] = append(found[family.GetName()], m)
				}
			}
		}
	}
	return found
}

func TestSeriesEndWithTheLastResolverOfTheAddress(t *testing.T) {
	up := dnstest.New(t, dnstest.Turns(dnstest.A("192.0.2.1"), dnstest.Drop))
	named := func(c *Config) { c.Name, c.ReadTimeout, c.MaxInFlight = "leaves", 50*time.Millisecond, 1 }
	first := open(t, up, named)
	ask(t, first, "udp", "example.org.")
	second := open(t, up, named, func(c *Config) { c.Expire = time.Second })
	refuse(t, second, Question{Msg: question("example.org.")}, time.Second, ErrTimeout)
	first.Close()
	before := seriesOf(t, "leaves")
	for _, want := range []string{"request_duration_seconds", "failed_attempts_total", "conn_cache_misses_total",
		"upstream_state", "upstream_in_flight", "reply_duration_seconds"} {
		if len(before["coredns_proxy_"+want]) == 0 {
			t.Errorf("no %s while a resolver is left", want)
		}
	}
	if h := before["coredns_proxy_reply_duration_seconds"]; len(h) != 1 || h[0].GetHistogram().GetSampleCount() != 1 {
		t.Errorf("the reply to the resolver that is closed does not count any more: %v", h)
	}
	second.Close()
	second.Close()
	up.Use(dnstest.A("192.0.2.1"))
	ask(t, second, "udp", "example.org.") // as happens while a server lingers
	ask(t, first, "udp", "example.org.")
	if left := seriesOf(t, "leaves"); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

func TestMetricsTellStateAndQuestionsInFlight(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	r := open(t, up, probing, func(c *Config) { c.Name, c.ReadTimeout = "told", 10*time.Second })
	state := func() (is []string) {
		for _, m := range seriesOf(t, "told")["coredns_proxy_upstream_state"] {
			if m.GetGauge().GetValue() == 1 {
				for _, l := range m.GetLabel() {
					if l.GetName() == "state" {
						is = append(is, l.GetValue())
					}
				}
			}
		}
		return is
	}
	if got := strings.Join(state(), " "); got != "sound" {
		t.Errorf("got %q, want sound", got)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Exchange(within(t, 5*time.Second), Question{Msg: question("example.org.")})
	}()
	dnstest.WaitFor(t, "the question to be counted", func() bool {
		m := seriesOf(t, "told")["coredns_proxy_upstream_in_flight"]
		return len(m) == 1 && m[0].GetGauge().GetValue() == 1
	})
	dnstest.WaitFor(t, "the resolver to be down", func() bool { return strings.Join(state(), " ") == "down" })
	up.Use(dnstest.A("192.0.2.1"))
	dnstest.WaitFor(t, "the resolver to be sound", func() bool { return strings.Join(state(), " ") == "sound" })
	<-done
}

func TestReplyDurationLeavesOutTheWaitForAConnection(t *testing.T) {
	up := dnstest.NewTLS(t, dnstest.A("192.0.2.1"))
	up.Greet(dnstest.Hang)
	r := open(t, up, secure(up), func(c *Config) { c.Name = "waited" })
	refuse(t, r, Question{Msg: question("example.org.")}, 200*time.Millisecond, ErrTimeout)
	up.Greet(dnstest.Serve)
	for range 3 {
		r.Exchange(within(t, 5*time.Second), Question{Msg: question("example.org.")})
	}
	found := seriesOf(t, "waited")
	replies := found["coredns_proxy_reply_duration_seconds"][0].GetHistogram()
	requests := found["coredns_proxy_request_duration_seconds"][0].GetHistogram()
	if replies.GetSampleCount() != requests.GetSampleCount() || replies.GetSampleSum() >= requests.GetSampleSum() {
		t.Errorf("%d replies took %gs, %d requests %gs", replies.GetSampleCount(), replies.GetSampleSum(),
			requests.GetSampleCount(), requests.GetSampleSum())
	}
}

func TestBucketsHoldWhatTheirBoundsSay(t *testing.T) {
	for i := range buckets {
		end := bucketEnd(i)
		if got := bucketOf(end - 1); got != i {
			t.Errorf("%v is in bucket %d, want %d", end-1, got, i)
		}
		if got := bucketOf(end); got != min(i+1, buckets-1) {
			t.Errorf("%v is in bucket %d, want %d", end, got, i+1)
		}
	}
	if bucketOf(-1) != 0 || bucketOf(time.Hour) != buckets-1 {
		t.Error("what is out of range is not in the outermost bucket")
	}
	var s spread
	for i := range 100 {
		s.add(time.Duration(i+1) * time.Millisecond)
	}
	var all totals
	all.add(&s)
	count, upTo := all.histogram()
	if count != 100 || upTo[0.008] != 7 || upTo[0.064] != 63 || upTo[8.192] != 100 || len(upTo) != 16 {
		t.Errorf("%d, %v", count, upTo)
	}
}
