package forward

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/upstream"

	"github.com/miekg/dns"
	ot "github.com/opentracing/opentracing-go"
	"github.com/opentracing/opentracing-go/mocktracer"
)

func TestReadTimeoutDecidesHowSlowAnUpstreamMayBe(t *testing.T) {
	script := dnstest.Delay(300*time.Millisecond, dnstest.A("192.0.2.1"))
	t.Run("patient", func(t *testing.T) {
		up := dnstest.New(t, script)
		s := serve(t, "read_timeout 4s\nmax_connect_attempts 1", up)
		wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	})
	t.Run("hasty", func(t *testing.T) {
		up := dnstest.New(t, script)
		s := serve(t, "read_timeout 50ms\nmax_connect_attempts 1", up)
		wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
	})
}

// B1, B6: the five seconds were looked at between attempts only.
func TestTimeoutBoundsAllAttemptsTogether(t *testing.T) {
	for _, tt := range []struct{ name, properties string }{
		{"silent", "timeout 300ms\nmax_connect_attempts 0"},
		{"hanging over TCP", "timeout 300ms\nmax_connect_attempts 0\nforce_tcp"},
		{"long read timeout", "timeout 300ms\nread_timeout 1h"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			up := dnstest.New(t, dnstest.Drop)
			up.Greet(dnstest.Hang)
			s := serve(t, tt.properties, up)
			start := time.Now()
			wantRcode(t, s.Ask(t, "example.org.", dns.TypeA), dns.RcodeServerFailure)
			if took := time.Since(start); took > defaultBudget-time.Second { // what it takes without the property
				t.Errorf("%s, with a timeout of 300ms", took)
			}
		})
	}
}

// attempts counts the attempts of one question to an upstream that hangs up. They are the spans: a connection that died
// before it was used again costs another connection and no attempt.
func attempts(t *testing.T, properties string) int {
	t.Helper()
	up := dnstest.New(t, dnstest.Drop)
	up.Greet(dnstest.HangUp)
	f := handler(t, stanza(properties+"\nforce_tcp\nmax_fails 0", up))
	tracer := mocktracer.New()
	if _, rcode, err := ask(ot.ContextWithSpan(t.Context(), tracer.StartSpan("question")), f); err == nil ||
		rcode != dns.RcodeServerFailure {
		t.Fatalf("rcode %d, error %v", rcode, err)
	}
	return len(tracer.FinishedSpans())
}

func TestMaxConnectAttemptsBoundsFailedAttempts(t *testing.T) {
	for _, tt := range []struct {
		properties string
		want       int
	}{
		{"max_connect_attempts 1", 1},
		{"max_connect_attempts 3", 3},
		{"", 2}, // twice each upstream
	} {
		if got := attempts(t, tt.properties); got != tt.want {
			t.Errorf("%q: %d attempts, want %d", tt.properties, got, tt.want)
		}
	}
}

// B3: max_connect_attempts 0 made thousands of attempts against an upstream that fails at once.
func TestAttemptsWithoutLimitArePaced(t *testing.T) {
	if n := attempts(t, "max_connect_attempts 0\ntimeout 1s"); n <= 2 || n > 20 {
		t.Errorf("%d attempts in a second, want more than the usual two and fewer than twenty", n)
	}
}

// B1, B2: an upstream that accepts connections and then says nothing used up the time that a second attempt needed.
func TestAHangingUpstreamLeavesTimeForAnother(t *testing.T) {
	for _, transport := range []string{"tcp", "tls"} {
		t.Run(transport, func(t *testing.T) {
			var hanging, good *dnstest.Server
			corefile := ".:0 {\nforward . %s%s %s%s {\npolicy sequential\nread_timeout 100ms\ntimeout 1s\nmax_fails 0\n%s\n}\n}"
			if transport == "tcp" {
				hanging, good = dnstest.New(t, dnstest.Drop), dnstest.New(t, dnstest.A("192.0.2.1"))
				corefile = fmt.Sprintf(corefile, "", hanging.Addr(), "", good.Addr(), "force_tcp")
			} else {
				hanging, good = dnstest.NewTLS(t, dnstest.Drop), dnstest.NewTLS(t, dnstest.A("192.0.2.1"))
				corefile = fmt.Sprintf(corefile, "tls://", hanging.Addr(), "tls://", good.Addr(), "tls "+good.CAFile(t))
			}
			hanging.Greet(dnstest.Hang)
			s := start(t, corefile, hanging, good)
			wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
		})
	}
}

// B11: a client that had gone was worked for until the read timeout.
func TestAQuestionEndsWithItsClient(t *testing.T) {
	arrived := make(chan struct{}, 10)
	up := dnstest.New(t, func(*dnstest.Query) { arrived <- struct{}{} })
	f := handler(t, stanza("read_timeout 1h", up))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, rcode, err := ask(ctx, f) // an hour, if it does not end with ctx
	if rcode != dns.RcodeServerFailure || !errors.Is(err, upstream.ErrCanceled) {
		t.Errorf("rcode %d, error %v", rcode, err)
	}
}

// The rules of the errors plugin, such as consolidate 5m ".* i/o timeout$", match on how an error ends.
func TestErrorsNameTheUpstreamAndEndAsTheyAlwaysDid(t *testing.T) {
	silent := dnstest.New(t, dnstest.Drop)
	gone := dnstest.New(t, dnstest.Drop)
	gone.Stop()
	for _, tt := range []struct {
		up  *dnstest.Server
		end string
	}{{silent, "i/o timeout"}, {gone, "connection refused"}} {
		f := handler(t, stanza("read_timeout 50ms\nmax_connect_attempts 1\nmax_fails 0", tt.up))
		_, rcode, err := ask(t.Context(), f)
		if rcode != dns.RcodeServerFailure || err == nil || !strings.HasSuffix(err.Error(), tt.end) ||
			!strings.Contains(err.Error(), tt.up.Addr().String()) {
			t.Errorf("error %v, want one of %s that ends with %q", err, tt.up.Addr(), tt.end)
		}
	}
}
