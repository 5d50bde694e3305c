package etcd_test

import (
	"fmt"
	"testing"

	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// externalDNS are keys and values of the shapes that external-dns's CoreDNS provider writes: a random label below the
// name, which targetstrip takes off again, the owner as text in one of them, one key for each target, the same target
// twice, owners without a target, wildcards, and names in reverse zones.
const externalDNS = `
	/skydns/com/ex/goh/149a1668 {"host":"sag.com","text":"\"heritage=external-dns,external-dns/owner=default\"","targetstrip":1}
	/skydns/com/ex/app/1a2b3c4d {"host":"10.245.0.1","text":"\"heritage=external-dns,external-dns/owner=a\"","targetstrip":1,"ttl":60}
	/skydns/com/ex/app/2b3c4d5e {"host":"10.245.0.2","targetstrip":1,"ttl":60}
	/skydns/com/ex/app/3c4d5e6f {"host":"2001:db8::2","targetstrip":1,"ttl":60}
	/skydns/com/ex/traefik/09352f6e {"host":"10.245.0.0","targetstrip":1}
	/skydns/com/ex/traefik/0a5b4081 {"host":"10.245.0.0","targetstrip":1}
	/skydns/com/ex/a-jaeger-agent/11112222 {"text":"\"heritage=external-dns,external-dns/owner=default\"","targetstrip":1}
	/skydns/com/ex/*/6381a3bb {"host":"1.2.3.4","ttl":300,"targetstrip":1}
	/skydns/com/ex/svc/44445555 {"host":"app.ex.com","port":0,"targetstrip":1}
	/skydns/arpa/in-addr/172/26/0/2/41d1e77d {"host":"w1.ex.com","targetstrip":1}
	/skydns/arpa/in-addr/172/26/0/2/51d1e77d {"host":"w2.ex.com","targetstrip":1}`

func TestExternalDNS(t *testing.T) {
	e := etcdtest.Start(t)
	put(e, externalDNS)
	e.Put("/skydns/com/ex/99990000", `{"host":"10.245.0.9","targetstrip":1}`)
	const owner = `"\"heritage=external-dns,external-dns/owner=default\""`
	for _, mode := range []string{"skydns", "exact"} {
		t.Run(mode, func(t *testing.T) {
			s := server.Start(t, fmt.Sprintf(`.:0 {
				template IN A sag.com {
					answer "{{ .Name }} 60 IN A 192.0.2.1"
				}
				etcd ex.com 172.26.0.0/16 {
					endpoint %s
					mode %s
				}
			}`, e.Endpoint(), mode))
			loaded(t, s, "ex.com.")
			loaded(t, s, "26.172.in-addr.arpa.")
			for _, tt := range []struct {
				name  string
				qtype uint16
				want  string
			}{
				{"goh.ex.com.", dns.TypeA, "NOERROR [192.0.2.1 sag.com.]"},
				{"goh.ex.com.", dns.TypeCNAME, "NOERROR [sag.com.]"},
				{"goh.ex.com.", dns.TypeTXT, "NOERROR [" + owner + "]"},
				{"app.ex.com.", dns.TypeA, "NOERROR [10.245.0.1 10.245.0.2]"},
				{"app.ex.com.", dns.TypeAAAA, "NOERROR [2001:db8::2]"},
				{"app.ex.com.", dns.TypeTXT, `NOERROR ["\"heritage=external-dns,external-dns/owner=a\""]`},
				{"app.ex.com.", dns.TypeCNAME, "NOERROR []"},
				{"app.ex.com.", dns.TypeSRV, "NOERROR [10 33 0 app.ex.com.]"},
				{"traefik.ex.com.", dns.TypeA, "NOERROR [10.245.0.0]"},
				{"a-jaeger-agent.ex.com.", dns.TypeTXT, "NOERROR [" + owner + "]"},
				{"a-jaeger-agent.ex.com.", dns.TypeA, "NOERROR []"},
				{"whatever.ex.com.", dns.TypeA, "NOERROR [1.2.3.4]"},
				{"what.ever.ex.com.", dns.TypeA, "NOERROR [1.2.3.4]"},
				{"whatever.ex.com.", dns.TypeAAAA, "NOERROR []"},
				{"x.app.ex.com.", dns.TypeA, "NXDOMAIN []"},
				{"svc.ex.com.", dns.TypeSRV, "NOERROR [10 100 0 app.ex.com.]"},
				{"svc.ex.com.", dns.TypeA, "NOERROR [10.245.0.1 10.245.0.2 app.ex.com.]"},
				{"2.0.26.172.in-addr.arpa.", dns.TypePTR, "NOERROR [w1.ex.com. w2.ex.com.]"},
			} {
				wantAnswer(t, s, tt.name, tt.qtype, tt.want)
			}
			if mode == "exact" {
				wantAnswer(t, s, "ex.com.", dns.TypeA, "NOERROR [10.245.0.9]")
				wantAnswer(t, s, "1a2b3c4d.app.ex.com.", dns.TypeA, "NOERROR []")
			}
		})
	}
}
