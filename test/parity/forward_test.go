package parity

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"

	_ "github.com/trident-dns/trident/forward"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// answers is what the upstream of the forward tests knows: each name is an answer of its own kind.
var answers = map[string]func(q *dns.Msg, m *dns.Msg){
	"a.example.org.":       rr("300 IN A 192.0.2.1"),
	"rrset.example.org.":   rr("300 IN A 192.0.2.1", "300 IN A 192.0.2.2", "300 IN A 192.0.2.3"),
	"aaaa.example.org.":    rr("60 IN AAAA 2001:db8::1"),
	"txt.example.org.":     rr(`0 IN TXT "one" "two"`),
	"mx.example.org.":      rr("300 IN MX 10 mail.example.org."),
	"srv.example.org.":     rr("300 IN SRV 1 2 3 target.example.org."),
	"caa.example.org.":     rr(`300 IN CAA 0 issue "ca.example.net"`),
	"https.example.org.":   rr(`300 IN HTTPS 1 . alpn="h2"`),
	"unknown.example.org.": rr(`300 IN TYPE65400 \# 3 abcdef`),
	"ttl.example.org.":     rr("2147483647 IN A 192.0.2.9"),
	"cname.example.org.": func(_, m *dns.Msg) {
		m.Answer = records("cname.example.org. 300 IN CNAME b.example.org.", "b.example.org. 300 IN A 192.0.2.5")
	},
	"nxdomain.example.org.": func(_, m *dns.Msg) { m.Rcode = dns.RcodeNameError; m.Ns = soa() },
	"nodata.example.org.":   func(_, m *dns.Msg) { m.Ns = soa() },
	"empty.example.org.":    func(_, _ *dns.Msg) {},
	"servfail.example.org.": func(_, m *dns.Msg) { m.Rcode = dns.RcodeServerFailure },
	"refused.example.org.":  func(_, m *dns.Msg) { m.Rcode = dns.RcodeRefused },
	"notimp.example.org.":   func(_, m *dns.Msg) { m.Rcode = dns.RcodeNotImplemented },
	"auth.example.org.": func(_, m *dns.Msg) {
		m.Authoritative, m.RecursionAvailable = true, false
		m.Answer = records("auth.example.org. 300 IN A 192.0.2.6")
		m.Ns = records("example.org. 300 IN NS ns.example.org.")
		m.Extra = records("ns.example.org. 300 IN A 192.0.2.53")
	},
	"secure.example.org.": func(_, m *dns.Msg) {
		m.AuthenticatedData = true
		m.Answer = records("secure.example.org. 300 IN A 192.0.2.7")
	},
	"referral.example.org.": func(_, m *dns.Msg) { m.Ns = records("referral.example.org. 300 IN NS ns.example.net.") },
	"many.example.org.": func(_, m *dns.Msg) {
		for i := range 60 {
			m.Answer = append(m.Answer, records(fmt.Sprintf("many.example.org. 300 IN A 192.0.2.%d", i+1))...)
		}
	},
}

func rr(rdata ...string) func(q, m *dns.Msg) {
	return func(q, m *dns.Msg) {
		for _, r := range rdata {
			m.Answer = append(m.Answer, records(strings.ToLower(q.Question[0].Name)+" "+r)...)
		}
	}
}

func soa() []dns.RR {
	return records("example.org. 60 IN SOA ns.example.org. hostmaster.example.org. 1 7200 1800 86400 30")
}

func records(lines ...string) []dns.RR {
	var rrs []dns.RR
	for _, line := range lines {
		r, err := dns.NewRR(line)
		if err != nil {
			panic(err) // the test's own text
		}
		rrs = append(rrs, r)
	}
	return rrs
}

// startUpstream answers from the table, truncated over UDP as the question's buffer demands.
func startUpstream(t *testing.T) string {
	t.Helper()
	addr := freeport.Addr(t)
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg)
		m.SetReply(q)
		m.RecursionAvailable = true
		if answer, ok := answers[strings.ToLower(q.Question[0].Name)]; ok {
			answer(q, m)
		} else {
			m.Rcode, m.Ns = dns.RcodeNameError, soa()
		}
		size := dns.MinMsgSize
		if opt := q.IsEdns0(); opt != nil {
			m.SetEdns0(1232, opt.Do())
			size = int(opt.UDPSize())
		}
		if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
			m.Truncate(size)
		}
		_ = w.WriteMsg(m) // the asker's time-out shows a failure
	})
	for _, network := range []string{"udp", "tcp"} {
		started := make(chan struct{})
		s := &dns.Server{Addr: addr, Net: network, Handler: handler, NotifyStartedFunc: func() { close(started) }}
		ended := make(chan error, 1)
		go func() { ended <- s.ListenAndServe() }()
		select {
		case <-started:
		case err := <-ended:
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Shutdown(); <-ended })
	}
	return addr
}

func TestForward(t *testing.T) {
	bin := proctest.Build(t, "./stock")
	upstream := startUpstream(t)
	names := append(slices.Sorted(maps.Keys(answers)), "above.test.", ".", "org.")
	for _, tt := range []struct{ name, corefile string }{
		{"everything", ".:PORT {\n forward . UPSTREAM\n}"},
		{"zone with exceptions", ".:PORT {\n forward example.org UPSTREAM {\n except a.example.org nodata.example.org\n }\n}"},
		{"chain", ".:PORT {\n forward org UPSTREAM {\n next NXDOMAIN\n }\n forward . UPSTREAM {\n force_tcp\n }\n}"},
		{"prefer UDP", ".:PORT {\n forward . UPSTREAM {\n prefer_udp\n }\n}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			corefile := strings.ReplaceAll(tt.corefile, "UPSTREAM", upstream)
			stock := startStock(t, bin, corefile)
			ours := server.StartUnchecked(t, strings.ReplaceAll(corefile, "PORT", "0"))
			compare(t, stock, ours, ask(names, []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeHTTPS}), 150, nil, ledger{})
		})
	}
}

func TestForwardToNobody(t *testing.T) {
	bin := proctest.Build(t, "./stock")
	corefile := ".:PORT {\n forward . " + freeport.Addr(t) + " {\n max_connect_attempts 1\n }\n}"
	stock := startStock(t, bin, corefile)
	ours := server.StartUnchecked(t, strings.ReplaceAll(corefile, "PORT", "0"))
	seen := ledger{}
	compare(t, stock, ours, ask([]string{"a.example.org."}, []uint16{dns.TypeA, dns.TypeAAAA}), 2, []difference{explained}, seen)
	seen.check(t)
}
