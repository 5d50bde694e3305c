package upstream

import (
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// probing probes every 20 ms and is down after two failures.
func probing(c *Config) {
	c.MaxFails = 2
	c.ReadTimeout = 100 * time.Millisecond
	c.Probe = Probe{Interval: 20 * time.Millisecond, Domain: "probe.example.", RecursionDesired: true}
}

func TestResolverIsDownAfterSoManyFailedProbesAndComesBack(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	r := open(t, up, probing)
	failures := value(t, r.meters.probeFailure)
	if r.Down() {
		t.Fatal("down from the start")
	}
	r.Failed()
	dnstest.WaitFor(t, "the resolver to be down", r.Down)
	if got := value(t, r.meters.probeFailure) - failures; got < 2 {
		t.Errorf("down after %v failed probes, want 2", got)
	}
	up.Use(func(q *dnstest.Query) {
		want := dns.Question{Name: "probe.example.", Qtype: dns.TypeNS, Qclass: dns.ClassINET}
		if q.Msg.Question[0] != want || !q.Msg.RecursionDesired {
			t.Errorf("the probe is %v", q.Msg)
		}
		dnstest.Rcode(dns.RcodeRefused)(q) // whatever the rcode, somebody is there
	})
	dnstest.WaitFor(t, "the resolver to be back", func() bool { return !r.Down() })
	dnstest.WaitFor(t, "probing to end", func() bool {
		r.health.prober.mu.Lock()
		defer r.health.prober.mu.Unlock()
		return !r.health.prober.running
	})
}

func TestProbesGoOverTheTransportOfTheQuestions(t *testing.T) {
	encrypted, plain := dnstest.NewTLS(t, dnstest.A("192.0.2.1")), dnstest.New(t, dnstest.A("192.0.2.1"))
	for proto, r := range map[string]*Resolver{
		"tls": open(t, encrypted, probing, secure(encrypted)),
		"udp": open(t, plain, probing),
		"tcp": open(t, plain, probing, func(c *Config) { c.ForceTCP = true }),
	} {
		up := plain
		if proto == "tls" {
			up = encrypted
		}
		r.Failed()
		dnstest.WaitFor(t, "a probe over "+proto, func() bool { return up.Questions(proto) == 1 })
	}
}

func TestNothingIsProbedWhenNobodyLooks(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	r := open(t, up, probing, func(c *Config) { c.MaxFails = 0 })
	r.Failed()
	if r.health.prober.running {
		t.Error("probes are sent although no number of failures makes the resolver down")
	}
}

func TestProbingEndsWithTheResolver(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	r := open(t, up, probing)
	r.Failed()
	dnstest.WaitFor(t, "the resolver to be down", r.Down)
	start := time.Now()
	r.Close()
	if took := time.Since(start); took > time.Second {
		t.Errorf("closing took %v", took)
	}
	if !r.Down() {
		t.Error("what was known is gone")
	}
}

func TestFailuresAreCountedByReason(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	r := open(t, up, func(c *Config) { c.Name, c.ReadTimeout = "counted", 50*time.Millisecond })
	refuse(t, r, Question{Msg: question("example.org.")}, time.Second, ErrTimeout)
	if got := value(t, failedAttempts.WithLabelValues("counted", r.Addr(), "timeout")); got != 1 {
		t.Errorf("counted %v, want 1", got)
	}
}

func TestReplyDoesNotChooseLabelValues(t *testing.T) {
	up := dnstest.New(t, func(q *dnstest.Query) {
		m := q.Answer()
		m.Rcode = 3841 // private use
		q.Reply(m)
	})
	r := open(t, up, func(c *Config) { c.Name = "labels" })
	for range 2 {
		q := Question{Msg: withEDNS(question("example.org."))}
		if _, err := r.Exchange(within(t, time.Second), q); err != nil {
			t.Fatal(err)
		}
	}
	if requestDuration.DeleteLabelValues("labels", r.Addr(), "3841") {
		t.Error("the upstream made up a label value")
	}
	if !requestDuration.DeleteLabelValues("labels", r.Addr(), otherRcode) {
		t.Error("an unassigned rcode was not counted as other")
	}
}

func TestReconnectsAreCounted(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	r := open(t, up, func(c *Config) { c.Name = "cached" })
	for range 5 {
		ask(t, r, "tcp", "example.org.")
	}
	s := r.streams.(*streams)
	if hits, misses := value(t, s.hits), value(t, s.misses); hits != 4 || misses != 1 {
		t.Errorf("%v hits and %v misses, want 4 and 1", hits, misses)
	}
}
