package forward

import (
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
	ot "github.com/opentracing/opentracing-go"
	"github.com/opentracing/opentracing-go/mocktracer"
)

func TestReadTimeoutDecidesHowSlowAnUpstreamMayBe(t *testing.T) {
	up := dnstest.New(t, dnstest.Delay(300*time.Millisecond, dnstest.A("192.0.2.1")))
	t.Run("patient", func(t *testing.T) {
		s := serve(t, "read_timeout 4s\nmax_connect_attempts 1", up)
		wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	})
	t.Run("hasty", func(t *testing.T) {
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
			t.Cleanup(up.Stop) // before the server, whose end looks for goroutines
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
