package forward

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/proctest"

	"github.com/miekg/dns"
)

// secureServers are the scripted upstreams that have a certificate, by the scheme of their TO.
var secureServers = map[string]func(t testing.TB, script dnstest.Script, names ...string) *dnstest.Server{
	"tls": dnstest.NewTLS, "https": dnstest.NewHTTPS, "https3": dnstest.NewHTTPS3, "quic": dnstest.NewQUIC,
}

// E4: the name of a tls:// upstream was used to find its address and for nothing else, so that whoever answered that
// question could present a certificate for the address. E5: https:// dropped the %name.
func TestWhichNameACertificateMustCarry(t *testing.T) {
	for scheme, listen := range secureServers {
		for _, tt := range []struct {
			certificate string // name or address in it
			to          string // without its port
			properties  string
			ok          bool
		}{
			{"127.0.0.1", "127.0.0.1", "", true},
			{"dns.example", "127.0.0.1", "", false},
			{"dns.example", "127.0.0.1%dns.example", "", true},
			{"dns.example", "127.0.0.1", "tls_servername dns.example", true},
			{"dns.example", "127.0.0.1", "tls_servername other.example", false},
			{"127.0.0.1", "127.0.0.1%dns.example", "", false},
			{"dns.example", "dns.example", "", true},
			{"127.0.0.1", "dns.example", "", false}, // the hole
			{"other.example", "dns.example%other.example", "", true},
			{"other.example", "dns.example", "tls_servername other.example", true},
		} {
			name := fmt.Sprintf("%s://%s %s with a certificate for %s", scheme, tt.to, tt.properties, tt.certificate)
			t.Run(name, func(t *testing.T) {
				up := listen(t, dnstest.A("192.0.2.1"), tt.certificate)
				names := dnstest.New(t, naming("127.0.0.1"))
				s := start(t, fmt.Sprintf(".:0 {\nforward . %s://%s:%d {\ntls %s\nresolver %s\nmax_fails 0\n%s\n}\n}", scheme,
					tt.to, up.Addr().Port(), up.CAFile(t), names.Addr(), tt.properties), up)
				r := s.Ask(t, "example.org.", dns.TypeA)
				if got := r.Rcode == dns.RcodeSuccess; got != tt.ok {
					t.Errorf("answered: %t, want %t", got, tt.ok)
				}
				if !tt.ok && up.Questions("") != 0 {
					t.Error("the question was sent to somebody with the wrong certificate")
				}
			})
		}
	}
}

// E5: a path of one's own was refused.
func TestDoHMethodAndPath(t *testing.T) {
	for _, scheme := range []string{"https", "https3"} {
		for _, tt := range []struct{ path, properties, wantMethod, wantPath string }{
			{"", "", http.MethodPost, "/dns-query"},
			{"/", "doh_method POST", http.MethodPost, "/dns-query"},
			{"", "doh_method GET", http.MethodGet, "/dns-query"},
			{"/abc123/dns", "doh_method GET", http.MethodGet, "/abc123/dns"},
		} {
			t.Run(scheme+tt.path+" "+tt.properties, func(t *testing.T) {
				seen := make(chan *http.Request, 1)
				up := secureServers[scheme](t, func(q *dnstest.Query) {
					seen <- q.Request
					dnstest.A("192.0.2.1")(q)
				}, "dns.example")
				s := start(t, fmt.Sprintf(".:0 {\nforward . %s://127.0.0.1%%dns.example:%d%s {\ntls %s\n%s\n}\n}", scheme,
					up.Addr().Port(), tt.path, up.CAFile(t), tt.properties), up)
				wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
				r := <-seen
				host, _, _ := net.SplitHostPort(r.Host) // a port that is not 443 is part of it
				if r.Method != tt.wantMethod || r.URL.Path != tt.wantPath || host != "dns.example" {
					t.Errorf("asked with %s http://%s%s, want %s %s of dns.example", r.Method, r.Host, r.URL.Path, tt.wantMethod,
						tt.wantPath)
				}
			})
		}
	}
}

// B5: read_timeout did not apply to DoH, which gave up after two seconds whatever the Corefile said.
func TestReadTimeoutHoldsForEveryTransport(t *testing.T) {
	for scheme, listen := range secureServers {
		for readTimeout, rcode := range map[string]int{"50ms": dns.RcodeServerFailure, "5s": dns.RcodeSuccess} {
			t.Run(scheme+" "+readTimeout, func(t *testing.T) {
				up := listen(t, dnstest.Delay(300*time.Millisecond, dnstest.A("192.0.2.1")))
				s := start(t, fmt.Sprintf(".:0 {\nforward . %s://%s {\ntls %s\nread_timeout %s\nmax_connect_attempts 1\n}\n}",
					scheme, up.Addr(), up.CAFile(t), readTimeout), up)
				if r := s.Ask(t, "example.org.", dns.TypeA); r.Rcode != rcode {
					t.Errorf("an answer after 300ms is %s", dns.RcodeToString[r.Rcode])
				}
			})
		}
	}
}

// E14: upstreams of one block may verify different names, and the client's certificate is presented to all of them.
func TestClientCertificateAndNamesOfOneBlock(t *testing.T) {
	ca := dnstest.NewCA(t)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(ca.PEM())
	var to string
	for _, name := range []string{"a.example", "b.example"} {
		config := ca.Server(t, name)
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, clients
		to += fmt.Sprintf(" tls://127.0.0.1%%%s:%d", name, serveTLS(t, config, name))
	}
	dir := t.TempDir()
	certFile, keyFile := ca.Files(t, "client.example")
	proctest.WriteFile(t, dir, "ca.pem", "%s", ca.PEM())
	s := start(t, fmt.Sprintf(".:0 {\nroot %s\nforward . %s {\ntls %s %s ca.pem\npolicy round_robin\nmax_fails 0\n}\n}",
		dir, to, certFile, keyFile))
	seen := make(map[string]bool)
	for range 4 {
		r := s.Ask(t, "example.org.", dns.TypeTXT)
		if len(r.Answer) != 1 {
			t.Fatalf("want the name of a server, got\n%s", r)
		}
		seen[r.Answer[0].(*dns.TXT).Txt[0]] = true
	}
	if len(seen) != 2 {
		t.Errorf("answers from %v, want both upstreams", seen)
	}
}

// serveTLS runs a DNS over TLS server with config, which answers with the text, and returns its port.
func serveTLS(t *testing.T, config *tls.Config, text string) int {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	srv := &dns.Server{Listener: listener, Net: "tcp-tls", Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg)
		m.SetReply(q)
		m.Answer = []dns.RR{&dns.TXT{
			Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 60},
			Txt: []string{text},
		}}
		w.WriteMsg(m)
	})}
	var ended sync.WaitGroup
	ended.Go(func() { _ = srv.ActivateAndServe() }) // its error is that the listener was closed
	t.Cleanup(func() {
		_ = listener.Close()
		ended.Wait()
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// A certificate that was renewed in place is another setting: a reload must not go on with the old connections.
func TestRenewedFilesAreNotTakenForTheOldOnes(t *testing.T) {
	dir := t.TempDir()
	path := proctest.WriteFile(t, dir, "ca.pem", "%s", dnstest.NewCA(t).PEM())
	before := fingerprint([]string{path})
	if fingerprint([]string{path}) != before {
		t.Error("the same file is not taken for itself")
	}
	proctest.WriteFile(t, dir, filepath.Base(path), "%s", dnstest.NewCA(t).PEM())
	if fingerprint([]string{path}) == before || fingerprint(nil) == before {
		t.Error("other settings are taken for the old ones")
	}
}
