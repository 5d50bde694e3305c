package upstream

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// webServers are those that a test of HTTP runs over.
var webServers = map[Transport]func(testing.TB, dnstest.Script, ...string) *dnstest.Server{
	HTTPS: dnstest.NewHTTPS, HTTPS3: dnstest.NewHTTPS3,
}

func TestHTTPRequests(t *testing.T) {
	for transport, server := range webServers {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			for path, want := range map[string]string{
				"": DefaultPath, "/custom/abc123": "/custom/abc123", "/q?key=1": "/q",
			} {
				t.Run(transport.String()+" "+method+" "+path, func(t *testing.T) {
					requests := make(chan *http.Request, 4)
					up := server(t, func(q *dnstest.Query) {
						requests <- q.Request
						dnstest.A("192.0.2.1")(q)
					}, "dns.example")
					r := open(t, up, overSession(up, transport), func(c *Config) {
						c.ServerName, c.Method, c.Path = "dns.example", method, path
					})
					ask(t, r, "", "example.org.")
					got := <-requests
					if got.Method != method || got.URL.Path != want {
						t.Errorf("got %s %s, want %s %s", got.Method, got.URL.Path, method, want)
					}
					if strings.Contains(path, "key=1") && got.URL.Query().Get("key") != "1" {
						t.Errorf("the query of the path got lost: %s", got.URL)
					}
					if !strings.HasPrefix(got.Host, "dns.example:") {
						t.Errorf("got host %s", got.Host)
					}
					if got.Header.Get("Accept") != dnsMessage || method == http.MethodPost && got.Header.Get("Content-Type") != dnsMessage {
						t.Errorf("got header %v", got.Header)
					}
					for _, h := range []string{"User-Agent", "Accept-Encoding"} {
						if v := got.Header.Get(h); v != "" {
							t.Errorf("%s: %s tells what nobody needs to know", h, v)
						}
					}
				})
			}
		}
	}
}

func TestOnlyDNSResponsesAreRead(t *testing.T) {
	good := dnstest.A("192.0.2.1")
	for transport, server := range webServers {
		for name, tt := range map[string]struct {
			script dnstest.Script
			want   error
		}{
			"another 2xx":      {dnstest.HTTP(203, dnsMessage, good), nil},
			"parameter":        {dnstest.HTTP(200, dnsMessage+"; charset=utf-8", good), nil},
			"not found":        {dnstest.HTTP(404, dnsMessage, good), ErrHTTP},
			"redirect":         {dnstest.HTTP(301, dnsMessage, good), ErrHTTP},
			"busy":             {dnstest.HTTP(503, dnsMessage, good), ErrHTTP},
			"a page":           {dnstest.HTTP(200, "text/html", good), ErrHTTP},
			"no type":          {dnstest.HTTP(200, "", good), ErrHTTP},
			"empty":            {func(q *dnstest.Query) { q.Send(nil) }, ErrMalformed},
			"larger than any":  {func(q *dnstest.Query) { q.Send(make([]byte, dns.MaxMsgSize+1)) }, ErrMalformed},
			"no reply at all":  {func(q *dnstest.Query) { q.Send(q.Wire) }, ErrMismatch},
			"unreadable names": {func(q *dnstest.Query) { q.Send(append([]byte{0, 0}, reply(1, badMX)...)) }, ErrMalformed},
		} {
			t.Run(transport.String()+" "+name, func(t *testing.T) {
				up := server(t, tt.script)
				r := open(t, up, overSession(up, transport))
				if tt.want == nil {
					ask(t, r, "", "example.org.")
					return
				}
				refuse(t, r, Question{Msg: question("example.org.")}, 5*time.Second, tt.want)
			})
		}
	}
}

func TestTimeInHTTPCachesCountsAgainstTTLs(t *testing.T) {
	// RFC 8484, section 5.1.
	for header, want := range map[string]uint32{"": 60, "25": 35, "3600": 0, "soon": 60, "-1": 60} {
		up := dnstest.NewHTTPS(t, func(q *dnstest.Query) {
			q.Header.Set("Age", header)
			dnstest.A("192.0.2.1")(q)
		})
		m := ask(t, open(t, up, overSession(up, HTTPS)), "", "example.org.").Msg
		if got := m.Answer[0].Header().Ttl; got != want {
			t.Errorf("Age %q: got TTL %d, want %d", header, got, want)
		}
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	// A name, since the environment's proxy is not for loopback addresses anyway.
	up := dnstest.NewHTTPS(t, dnstest.A("192.0.2.1"), "dns.example")
	r := open(t, up, overSession(up, HTTPS), func(c *Config) { c.ServerName = "dns.example" })
	ask(t, r, "", "example.org.")
}

func TestHTTPSHandshakeThatHangsIsBounded(t *testing.T) {
	up := dnstest.NewHTTPS(t, dnstest.A("192.0.2.1"))
	up.Greet(dnstest.Hang)
	r := open(t, up, overSession(up, HTTPS))
	start := time.Now()
	refuse(t, r, Question{Msg: question("example.org.")}, 200*time.Millisecond, ErrTimeout)
	if took := time.Since(start); took > time.Second {
		t.Errorf("a budget of 200 ms ended after %v", took)
	}
}

func TestPathsThatAreNone(t *testing.T) {
	for _, path := range []string{"dns-query", "https://other.example/", "//other.example/x", "/%zz"} {
		for transport := range webServers {
			c := valid()
			c.Transport, c.Path = transport, path
			if r, err := Open(c); err == nil {
				r.Close()
				t.Errorf("%s: opened with path %q", transport, path)
			}
		}
	}
}
