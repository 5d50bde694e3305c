package forward

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/upstream"
)

// A TO that is taken means one thing: written down again, it is read as the same. All others are errors, never panics.
func FuzzTO(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "[::1]:53", "fe80::1%eth0", "tls://[fe80::1%eth0%example.com]:853",
		"https://", "https://1.1.1.1%a.b/c%d", "dns.example:domain", "quic://%", "[", "]:", "tls://[::1", ":::", "a%b:c",
		"https3:///", "1.1.1.256"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, to string) {
		e, _, err := parseEndpoint(to)
		if err != nil {
			return
		}
		if e.port == 0 || e.addr.IsValid() == (e.host != "") || e.addr.IsValid() && e.addr.Is4In6() {
			t.Fatalf("%q is read as %+v", to, e)
		}
		again, _, err := parseEndpoint(e.String())
		if err != nil || again != e {
			t.Fatalf("%q is read as %+v, written as %q, and that is read as %+v (%v)", to, e, e.String(), again, err)
		}
		b := newBlock()
		if e.addr.IsValid() {
			r, err := upstream.Open(b.config(e, netip.AddrPortFrom(e.addr, e.port)))
			if err != nil && e.transport <= upstream.TLS {
				t.Fatalf("%q is accepted and then refused: %v", to, err)
			}
			if err == nil {
				_ = r.Close()
			}
		}
	})
}

// Whatever stands in an upstream file, it is upstreams, warnings or an error.
func FuzzUpstreamFile(f *testing.F) {
	for _, seed := range []string{"nameserver 10.0.0.1\n", "nameserver", "nameserver fe80::1%en0\nnameserver ::%\n",
		"options timeout:x\nnameserver [::1]:53", "nameserver \x00\nnameserver 1.1.1.1:99999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		path := filepath.Join(t.TempDir(), "resolv.conf")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := fromFile(path)
		if err == nil && len(read.list) == 0 && len(read.warnings) == 0 {
			t.Fatalf("%q is nothing, and nobody is told", content)
		}
		for _, e := range read.list {
			if e.transport != upstream.DNS || e.port == 0 {
				t.Fatalf("%q is read as %+v", content, e)
			}
		}
	})
}

// A Corefile is read or refused with file and line.
func FuzzCorefile(f *testing.F) {
	for name, rows := range propertyRows {
		for _, row := range rows {
			if name != "tls" { // which reads files
				f.Add(". 127.0.0.1", row.text)
			}
		}
	}
	f.Add("xn--a 127.0.0.1 tls://%", "except \\.\\0 . 1.2.3.4/33")
	f.Fuzz(func(t *testing.T, head, body string) {
		if strings.ContainsAny(head+body, "{}") || strings.Contains(body, "tls") || strings.Contains(head+body, "import") {
			t.Skip()
		}
		blocks, err := parseText("forward " + head + " {\n" + body + "\n}")
		if err != nil {
			if !strings.Contains(err.Error(), "Testfile:") {
				t.Fatalf("error without file and line: %v", err)
			}
			return
		}
		for _, b := range blocks {
			if len(b.to) == 0 || len(b.zones) == 0 || b.budget <= 0 || b.readTimeout <= 0 || b.probe.Interval < minProbeInterval {
				t.Fatalf("read as %+v", b)
			}
			newTerritory(b.zones, b.except).contains("www.example.org.")
		}
	})
}
