package upstream

import (
	"crypto/tls"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
)

func TestHandshakeThatHangsIsBounded(t *testing.T) {
	up := dnstest.NewTLS(t, dnstest.A("192.0.2.1"))
	up.Greet(dnstest.Hang)
	r := open(t, up, secure(up))
	q := Question{Msg: question("example.org.")}
	start := time.Now()
	refuse(t, r, q, 200*time.Millisecond, ErrTimeout)
	if took := time.Since(start); took > time.Second {
		t.Errorf("a budget of 200 ms ended after %v", took)
	}
	// The next one waits for the same connection, and fails together with it in half of its own budget.
	refuse(t, r, q, 5*time.Second, ErrDial)
	if took := time.Since(start); took > 2*dialTimeout {
		t.Errorf("gave up after %v, want %v", took, dialTimeout)
	}
	up.Greet(dnstest.Serve)
	ask(t, r, "", "example.org.")
}

func TestTLSSessionsAreResumed(t *testing.T) {
	up := dnstest.NewTLS(t, dnstest.A("192.0.2.1"))
	var full, resumed atomic.Int32
	r := open(t, up, secure(up), func(c *Config) {
		c.TLS.VerifyConnection = func(state tls.ConnectionState) error {
			if state.DidResume {
				resumed.Add(1)
			} else {
				full.Add(1)
			}
			return nil
		}
	})
	for range 4 {
		ask(t, r, "", "example.org.")
		up.CloseConns()
		dnstest.WaitFor(t, "the close", func() bool { return up.OpenConns() == 0 })
	}
	if full.Load() != 1 || resumed.Load() != 3 {
		t.Errorf("%d full handshakes and %d resumed ones, want 1 and 3", full.Load(), resumed.Load())
	}
}

func TestCertificateMustCarryTheNameThatWasAskedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		certificate, serverName string
		want                    error
	}{
		"name of the resolver":               {"dns.example", "dns.example", nil},
		"address, when there is no name":     {"127.0.0.1", "", nil},
		"another name":                       {"other.example", "dns.example", ErrTLS},
		"address, although there is a name":  {"127.0.0.1", "dns.example", ErrTLS},
		"name, although there is an address": {"dns.example", "", ErrTLS},
	} {
		t.Run(name, func(t *testing.T) {
			up := dnstest.NewTLS(t, dnstest.A("192.0.2.1"), tt.certificate)
			r := open(t, up, secure(up), func(c *Config) { c.ServerName = tt.serverName })
			if tt.want == nil {
				ask(t, r, "", "example.org.")
				return
			}
			refuse(t, r, Question{Msg: question("example.org.")}, 5*time.Second, tt.want)
			if n := up.Questions(""); n != 0 {
				t.Errorf("%d questions went to somebody else", n)
			}
		})
	}
}

func TestUntrustedCertificateIsRefused(t *testing.T) {
	up := dnstest.NewTLS(t, dnstest.A("192.0.2.1"))
	r := open(t, up, func(c *Config) { c.Transport = TLS })
	refuse(t, r, Question{Msg: question("example.org.")}, 5*time.Second, ErrTLS)
}
