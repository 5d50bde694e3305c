package forward

import (
	"errors"
	"fmt"
	"testing"

	recorder "github.com/coredns/coredns/plugin/pkg/dnstest"
	"github.com/coredns/coredns/plugin/test"
	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
)

// extended returns the extended error of r.
func extended(t *testing.T, r *dns.Msg) *dns.EDNS0_EDE {
	t.Helper()
	if opt := r.IsEdns0(); opt != nil {
		for _, o := range opt.Option {
			if e, ok := o.(*dns.EDNS0_EDE); ok {
				return e
			}
		}
	}
	t.Fatalf("no extended error in\n%s", r)
	return nil
}

// RFC 8914: a SERVFAIL that was made here says so, and why.
func TestFailuresMadeHereAreExplained(t *testing.T) {
	question := func(edns bool) *dns.Msg {
		m := new(dns.Msg)
		m.SetQuestion("example.org.", dns.TypeA)
		if edns {
			m.SetEdns0(1232, false)
		}
		return m
	}
	gone := dnstest.New(t, dnstest.Drop)
	gone.Stop()
	for _, tt := range []struct {
		name     string
		corefile string
		code     uint16
	}{
		{"time-out", stanza("read_timeout 20ms\nmax_connect_attempts 1", dnstest.New(t, dnstest.Drop)),
			dns.ExtendedErrorCodeNoReachableAuthority},
		{"nobody listens", stanza("max_connect_attempts 1", gone), dns.ExtendedErrorCodeNoReachableAuthority},
		{"malformed", stanza("force_tcp\nmax_connect_attempts 1", dnstest.New(t, dnstest.WrongQuestion)),
			dns.ExtendedErrorCodeInvalidData},
		{"closed", stanza("force_tcp\nmax_connect_attempts 1", dnstest.New(t, dnstest.Close)),
			dns.ExtendedErrorCodeNetworkError},
		{"no address", "forward . nosuch.invalid {\nresolver " + dnstest.New(t, dnstest.Rcode(dns.RcodeNameError)).Addr().String() +
			"\n}", dns.ExtendedErrorCodeNotReady},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, fmt.Sprintf(".:0 {\n%s\n}", tt.corefile))
			r := s.Exchange(t, question(true), "udp")
			wantRcode(t, r, dns.RcodeServerFailure)
			if e := extended(t, r); e.InfoCode != tt.code || e.ExtraText == "" {
				t.Errorf("got %s, want code %d and a text", e, tt.code)
			}
			r = s.Exchange(t, question(false), "udp")
			wantRcode(t, r, dns.RcodeServerFailure)
			if r.IsEdns0() != nil {
				t.Errorf("an OPT record for a client that sent none:\n%s", r)
			}
		})
	}
}

func TestMaxConcurrentSaysThatItIsALimit(t *testing.T) {
	up, open := gate(t, dnstest.A("192.0.2.1"))
	s := serve(t, "max_concurrent 1", up)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		s.Ask(t, "one.example.org.", dns.TypeA)
	}()
	dnstest.WaitFor(t, "the first question to arrive", func() bool { return up.Questions("") == 1 })
	m := new(dns.Msg)
	m.SetQuestion("two.example.org.", dns.TypeA)
	m.SetEdns0(1232, false)
	r := s.Exchange(t, m, "udp")
	wantRcode(t, r, dns.RcodeRefused)
	if e := extended(t, r); e.ExtraText != "refused by a limit" {
		t.Errorf("got %s", e)
	}
	open()
	<-answered
}

// Every way in which an exchange can fail has an explanation of its own.
func TestEverySentinelOfAFailedExchangeHasAReason(t *testing.T) {
	for _, err := range []error{upstream.ErrTimeout, upstream.ErrRefused, upstream.ErrDial, upstream.ErrTLS, upstream.ErrClosed,
		upstream.ErrMalformed, upstream.ErrMismatch, upstream.ErrHTTP, upstream.ErrProtocol, ErrNoHealthy, ErrNoUpstream, ErrBudget,
		ErrWaited} {
		if code, text := reason(fmt.Errorf("upstream: %w", err)); code == dns.ExtendedErrorCodeOther || text == "" {
			t.Errorf("%v: code %d, text %q", err, code, text)
		}
	}
}

// What the errors plugin logs is what a handler returns, whoever writes the reply.
func TestAFailureIsLoggedAlsoWhenTheClientWasTold(t *testing.T) {
	f := handler(t, stanza("read_timeout 20ms\nmax_connect_attempts 1\nmax_fails 0", dnstest.New(t, dnstest.Drop)))
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeA)
	m.SetEdns0(1232, false)
	w := recorder.NewRecorder(&test.ResponseWriter{})
	rcode, err := f.ServeDNS(t.Context(), w, m)
	if rcode != dns.RcodeSuccess || !errors.Is(err, upstream.ErrTimeout) {
		t.Errorf("got %s and %v, want the sign that a reply was written, and the time-out", dns.RcodeToString[rcode], err)
	}
	if w.Msg == nil || w.Msg.Rcode != dns.RcodeServerFailure {
		t.Errorf("wrote %v, want SERVFAIL", w.Msg)
	}
}
