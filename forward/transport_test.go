package forward

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

func TestForceTCPAsksOverTCPWhateverTheClientUses(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "force_tcp\nprefer_udp", up) // force_tcp wins
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	if up.Questions("tcp") != 1 || up.Questions("udp") != 0 {
		t.Errorf("%d questions over TCP, %d over UDP; want 1 and 0", up.Questions("tcp"), up.Questions("udp"))
	}
}

func TestPreferUDPAsksOverUDPWhateverTheClientUses(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "prefer_udp", up)
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeA)
	wantA(t, s.Exchange(t, m, "tcp"), "192.0.2.1")
	if up.Questions("udp") != 1 || up.Questions("tcp") != 0 {
		t.Errorf("%d questions over UDP, %d over TCP; want 1 and 0", up.Questions("udp"), up.Questions("tcp"))
	}
}

func TestExpireClosesIdleConnections(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "force_tcp\nexpire 50ms", up)
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	dnstest.WaitFor(t, "the idle connection to be closed", func() bool { return up.OpenConns() == 0 })
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
}

func TestMaxAgeReplacesBusyConnections(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "force_tcp\nexpire 1s\nmax_age 1s", up)
	dnstest.WaitFor(t, "a second connection although the first is never idle", func() bool {
		wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
		return up.Conns("tcp") > 1
	})
}

// Without the property, questions one by one are spread over 64 sockets that stay.
func TestMaxIdleConnsBoundsWhatIsKept(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "max_idle_conns 1", up)
	const n = 200
	for range n {
		s.Ask(t, "example.org.", dns.TypeA)
	}
	if got := up.Conns("udp"); got < n/2 {
		t.Errorf("%d sockets for %d questions one by one: more than one was kept", got, n)
	}
}

func TestSourceAddressIsWhereQuestionsComeFrom(t *testing.T) {
	from := make(chan netip.Addr, 1)
	up := dnstest.New(t, func(q *dnstest.Query) {
		from <- q.Client.Addr()
		dnstest.A("192.0.2.1")(q)
	})
	s := serve(t, "source_address 127.0.0.9", up)
	for _, network := range []string{"udp", "tcp"} {
		m := new(dns.Msg)
		m.SetQuestion("example.org.", dns.TypeA)
		wantA(t, s.Exchange(t, m, network), "192.0.2.1")
		if got := <-from; got != netip.MustParseAddr("127.0.0.9") {
			t.Errorf("asked over %s from %s", network, got)
		}
	}
}

// E4: the name of a tls:// upstream was used to find its address and for nothing else, so that whoever answered that
// question could present a certificate for the address.
func TestWhichNameACertificateMustCarry(t *testing.T) {
	for _, tt := range []struct {
		certificate string // name or address in it
		to          string // with a port to fill in
		properties  string
		ok          bool
	}{
		{"127.0.0.1", "tls://127.0.0.1:%d", "", true},
		{"dns.example", "tls://127.0.0.1:%d", "", false},
		{"dns.example", "tls://127.0.0.1%%dns.example:%d", "", true},
		{"dns.example", "tls://127.0.0.1:%d", "tls_servername dns.example", true},
		{"dns.example", "tls://127.0.0.1:%d", "tls_servername other.example", false},
		{"127.0.0.1", "tls://127.0.0.1%%dns.example:%d", "", false},
		{"dns.example", "tls://dns.example:%d", "", true},
		{"127.0.0.1", "tls://dns.example:%d", "", false}, // the hole
		{"other.example", "tls://dns.example%%other.example:%d", "", true},
	} {
		t.Run(tt.certificate+" for "+tt.to+tt.properties, func(t *testing.T) {
			up := dnstest.NewTLS(t, dnstest.A("192.0.2.1"), tt.certificate)
			names := dnstest.New(t, naming("127.0.0.1"))
			to := fmt.Sprintf(tt.to, up.Addr().Port())
			s := server.Start(t, fmt.Sprintf(".:0 {\nforward . %s {\ntls %s\nresolver %s\nmax_fails 0\n%s\n}\n}", to,
				up.CAFile(t), names.Addr(), tt.properties))
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
	certFile, keyFile := ca.Files(t, "client.example")
	roots := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(roots, ca.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := server.Start(t, fmt.Sprintf(".:0 {\nforward . %s {\ntls %s %s %s\npolicy round_robin\nmax_fails 0\n}\n}", to,
		certFile, keyFile, roots))
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
