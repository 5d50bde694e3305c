package forward

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTOInAllItsForms(t *testing.T) {
	for _, tt := range []struct{ to, want string }{
		{"127.0.0.1", "dns://127.0.0.1:53"},
		{"127.0.0.1:", "dns://127.0.0.1:53"},
		{"127.0.0.1:8053", "dns://127.0.0.1:8053"},
		{"127.0.0.1:domain", "dns://127.0.0.1:53"},
		{"dns://127.0.0.1", "dns://127.0.0.1:53"},
		{"::1", "dns://[::1]:53"},
		{"[::1]", "dns://[::1]:53"},
		{"[::1]:53", "dns://[::1]:53"},
		{"[2003:0:0::1]:54", "dns://[2003::1]:54"},
		{"::ffff:192.0.2.1", "dns://192.0.2.1:53"},
		{"fe80::1%eth0", "dns://[fe80::1%eth0]:53"},
		{"[fe80::1%eth0]:5353", "dns://[fe80::1%eth0]:5353"},
		{"tls://9.9.9.9", "tls://9.9.9.9:853"},
		{"tls://9.9.9.9:854", "tls://9.9.9.9:854"},
		{"tls://9.9.9.9%dns.quad9.net", "tls://9.9.9.9%dns.quad9.net:853"},
		{"tls://9.9.9.9%dns.quad9.net:10853", "tls://9.9.9.9%dns.quad9.net:10853"},
		{"tls://[2400:3200::1%dns.alidns.com]:853", "tls://[2400:3200::1%dns.alidns.com]:853"},
		{"tls://2400:3200::1%dns.alidns.com", "tls://[2400:3200::1%dns.alidns.com]:853"},
		{"tls://2400:3200::1%dns.alidns.com:854", "tls://[2400:3200::1%dns.alidns.com]:854"},
		{"tls://fe80::1%example.com", "tls://[fe80::1%example.com]:853"},
		{"tls://[fe80::1%eth0%example.com]:853", "tls://[fe80::1%eth0%example.com]:853"},
		{"quic://127.0.0.1", "quic://127.0.0.1:853"},
		{"quic://127.0.0.1%doq.example:8853", "quic://127.0.0.1%doq.example:8853"},
		{"https://1.1.1.1", "https://1.1.1.1:443"},
		{"https://1.1.1.1/", "https://1.1.1.1:443"},
		{"https://1.1.1.1:8443/abc123", "https://1.1.1.1:8443/abc123"},
		{"https://1.1.1.1%one.one.one.one/dns/q", "https://1.1.1.1%one.one.one.one:443/dns/q"},
		{"https://[2606:4700::1111]/x", "https://[2606:4700::1111]:443/x"},
		{"https3://1.1.1.1", "https3://1.1.1.1:443"},
		{"Dns.Example.", "dns://dns.example:53"},
		{"dns.example:54", "dns://dns.example:54"},
		{"tls://dns.example", "tls://dns.example:853"},
		{"tls://dns.example%other.example:854", "tls://dns.example%other.example:854"},
		{"https://dns.example/custom", "https://dns.example:443/custom"},
		{"my_dns.svc.cluster.local", "dns://my_dns.svc.cluster.local:53"},
	} {
		e, warning, err := parseEndpoint(tt.to)
		if err != nil || e.String() != tt.want || warning != "" {
			t.Errorf("%s: %s, warning %q, error %v; want %s", tt.to, e, warning, err, tt.want)
		}
	}
}

func TestTOThatMeansNothingIsToldWhatIsAccepted(t *testing.T) {
	for _, tt := range []struct{ to, err string }{
		{"grpc://127.0.0.1", "'grpc' is not supported as a destination protocol in forward: grpc://127.0.0.1"},
		{"unix:///run/dns.sock", "'unix' is not supported"},
		{"1.1.1.256", "not an IP address, file or host name"},
		{"a27.0.0.1", "not an IP address, file or host name"},
		{"/etc/nosuch/resolv.conf", "not an IP address, file or host name"},
		{"tls://", "not an IP address, file or host name"},
		{"dns..example", "not an IP address, file or host name"},
		{"dns!example", "not an IP address, file or host name"},
		{"/etc", "/etc is a directory"},
		{"https:///dns-query", "not an IP address, file or host name"},
		{"127.0.0.1:70000", "no valid upstream addresses found"},
	} {
		_, err := parseText("forward . " + tt.to)
		if err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: error %v, want one with %q", tt.to, err, tt.err)
		}
	}
}

func TestPlainDNSHasNoUseForAName(t *testing.T) {
	for _, to := range []string{"10.0.0.1%dns.example", "2001:db8::1%eth0", "dns.example%eth0"} {
		e, warning, err := parseEndpoint(to)
		if err != nil || warning == "" || strings.Contains(e.String(), "%") {
			t.Errorf("%s: %s, warning %q, error %v; want the name left out with a warning", to, e, warning, err)
		}
	}
}

func TestResolvConf(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	two := write("two", "# first\nnameserver 10.0.0.1\nsearch example\nnameserver 10.0.0.2\noptions rotate\n")
	scoped := write("scoped", "nameserver 388:d254:7aec::1%en0\nnameserver fe80::1%eth0\n")
	empty := write("empty", "# nameserver 10.0.0.1\n")
	broken := write("broken", "nameserver 10.0.0.1:54\nnameserver\nnameserver 999.1.1.1\nnameserver 10.0.0.9\n")

	for _, tt := range []struct {
		to   string
		want []string // nil: no upstream at all
	}{
		{two, []string{"dns://10.0.0.1:53", "dns://10.0.0.2:53"}},
		{"tls://" + two, []string{"tls://10.0.0.1:853", "tls://10.0.0.2:853"}},
		{scoped, []string{"dns://[388:d254:7aec::1]:53", "dns://[fe80::1%eth0]:53"}},
		{empty, nil},
		{empty + " 127.0.0.1", []string{"dns://127.0.0.1:53"}},
		{broken, []string{"dns://10.0.0.1:54", "dns://10.0.0.9:53"}},
		{two + " 10.0.0.1 " + two, []string{"dns://10.0.0.1:53", "dns://10.0.0.2:53"}},
		{"tls://127.0.0.1 quic://127.0.0.1", []string{"tls://127.0.0.1:853", "quic://127.0.0.1:853"}},
	} {
		blocks, err := parseText("forward . " + tt.to)
		if tt.want == nil {
			if err == nil || !strings.Contains(err.Error(), errNoUpstreams.Error()) {
				t.Errorf("%s: error %v, want %v", tt.to, err, errNoUpstreams)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.to, err)
			continue
		}
		var got []string
		for _, e := range blocks[0].to {
			got = append(got, e.String())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.to, got, tt.want)
		}
	}
}

func TestUpstreamsAreBoundedFarAboveFifteen(t *testing.T) {
	var to []string
	for port := range maxUpstreams {
		to = append(to, fmt.Sprintf("127.0.0.1:%d", port+1))
	}
	if b := mustParse(t, "forward . "+strings.Join(to, " ")); len(b.to) != maxUpstreams {
		t.Errorf("%d upstreams, want %d", len(b.to), maxUpstreams)
	}
	_, err := parseText("forward . 127.0.0.2 " + strings.Join(to, " "))
	if err == nil || !strings.Contains(err.Error(), "accepted are at most 256") {
		t.Errorf("error %v for one more", err)
	}
}

func TestANameIsVerifiedOnce(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string // name that the first upstream verifies; the error if it begins with "both"
	}{
		{"forward . tls://127.0.0.1 {\n tls_servername dns\n}", "dns"},
		{"forward . tls://127.0.0.1%example.net {\n tls\n}", "example.net"},
		{"forward . tls://dns.example", "dns.example"},
		{"forward . https://dns.example", "dns.example"},
		{"forward . tls://dns.example%other.example", "other.example"},
		{"forward . tls://dns.example {\n tls_servername other.example\n}", "other.example"},
		{"forward . tls://127.0.0.1", ""},
		{"forward . dns.example", ""},
		{"forward . https://127.0.0.1%a.example {\n tls_servername b.example\n}", "b.example"},
		{"forward . tls://127.0.0.1%example.net:854 {\n tls_servername foo\n}",
			"both forward ('foo') and proxy level ('example.net') TLS servernames are set"},
		{"forward . quic://127.0.0.1%doq.example {\n tls_servername foo\n}",
			"both forward ('foo') and proxy level ('doq.example') TLS servernames are set"},
	} {
		blocks, err := parseText(tt.text)
		if strings.HasPrefix(tt.want, "both") {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want %q", tt.text, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := blocks[0].verifiedName(blocks[0].to[0]); got != tt.want {
			t.Errorf("%s: verifies %q, want %q", tt.text, got, tt.want)
		}
	}
}
