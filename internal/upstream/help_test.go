package upstream

import (
	"context"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a resolver for s, with the transport that s speaks, which is closed with the test.
func open(t testing.TB, s *dnstest.Server, change ...func(*Config)) *Resolver {
	t.Helper()
	c := Config{Name: "test", Addr: s.Addr(), Expire: DefaultExpire}
	for _, f := range change {
		f(&c)
	}
	r, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// secure makes a configuration of one for DNS over TLS.
func secure(s *dnstest.Server) func(*Config) {
	return func(c *Config) { c.Transport, c.TLS = TLS, s.ClientTLS() }
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func question(name string) *dns.Msg { return new(dns.Msg).SetQuestion(name, dns.TypeA) }

func withEDNS(m *dns.Msg, options ...dns.EDNS0) *dns.Msg {
	m.SetEdns0(1232, true)
	m.IsEdns0().Option = options
	return m
}

// ask wants an answer within the five seconds that a question has.
func ask(t testing.TB, r *Resolver, proto, name string) Answer {
	t.Helper()
	answer, err := r.Exchange(within(t, 5*time.Second), Question{Msg: question(name), Proto: proto})
	if err != nil {
		t.Fatalf("%s over %s: %v", name, proto, err)
	}
	return answer
}

// refuse wants an error that wraps sentinel.
func refuse(t testing.TB, r *Resolver, q Question, budget time.Duration, sentinel error) Answer {
	t.Helper()
	answer, err := r.Exchange(within(t, budget), q)
	if Reason(err) != Reason(sentinel) {
		t.Fatalf("got error %v, want one that wraps %q", err, sentinel)
	}
	if answer.Msg != nil {
		t.Errorf("got an error and a reply:\n%v", answer.Msg)
	}
	return answer
}

// address is the address in the first record of an answer, "" when there is none.
func address(m *dns.Msg) string {
	if len(m.Answer) == 0 {
		return ""
	}
	if a, ok := m.Answer[0].(*dns.A); ok {
		return a.A.String()
	}
	return ""
}

// value reads a counter.
func value(t testing.TB, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

// idle is the health of a resolver that nobody asks.
func idle() *health {
	h := newHealth(Config{})
	h.prober = newProber(Config{}, h, nil)
	return h
}
