package forward

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/trial"

	"github.com/coredns/caddy"
	"github.com/miekg/dns"
)

func TestADryRunResolvesUpstreamNamesAndReadsCertificates(t *testing.T) {
	names := dnstest.New(t, dnstest.Named(map[string]dnstest.Script{
		"good.example.": naming("192.0.2.1", "192.0.2.2"),
		"gone.example.": dnstest.Rcode(dns.RcodeNameError),
	}))
	cert, key := dnstest.NewCA(t).Files(t, "client.example")
	list := filepath.Join(t.TempDir(), "upstreams")
	if err := os.WriteFile(list, []byte("nameserver 192.0.2.7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		block string
		want  []string // beginnings of the findings
	}{
		{"forward . 192.0.2.1", nil},
		{"forward . " + list, nil},
		{"forward . good.example tls://good.example {\nresolver RESOLVER\n}",
			[]string{"ok name good.example: 192.0.2.1 192.0.2.2"}},
		{"forward . good.example gone.example {\nresolver RESOLVER\n}",
			[]string{"ok name good.example", "problem name gone.example: does not resolve: resolver"}},
		{"forward . good.example {\nresolver RESOLVER\nsource_address ::1\n}", []string{"problem name good.example: no address of"}},
		{"forward . tls://192.0.2.1 {\ntls " + cert + " " + key + "\n}",
			[]string{"warning certificate " + cert + ": matches its key"}}, // the test's is valid for an hour
	} {
		block := strings.ReplaceAll(tt.block, "RESOLVER", names.Addr().String())
		c := caddy.NewTestController("dns", block)
		p := trial.Begin(c)
		if err := setup(c); err != nil {
			t.Errorf("%v of %s", err, block)
			continue
		}
		found := p.Run(t.Context(), false)
		if len(found) != len(tt.want) {
			t.Errorf("%+v\nwant %q of %s", found, tt.want, block)
			continue
		}
		for i, f := range found {
			if got := fmt.Sprintf("%v %s: %s", f.Level, f.Subject, f.Detail); !strings.HasPrefix(got, tt.want[i]) {
				t.Errorf("%q, want %q of %s", got, tt.want[i], block)
			}
		}
	}
	if n := resolvers.Len(); n != 0 {
		t.Errorf("%d upstreams left open", n)
	}
}
