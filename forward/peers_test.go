package forward

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coredns/caddy"
	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"
	"github.com/trident-dns/trident/test/server"

	_ "github.com/coredns/coredns/plugin/file"
	_ "github.com/coredns/coredns/plugin/root"
	_ "github.com/coredns/coredns/plugin/tls"
	"github.com/miekg/dns"
)

// peerZone is what the real servers know. The TXT RRset does not fit into a datagram of 1232 bytes.
var peerZone = func() []string {
	zone := []string{
		"example.org. 300 IN SOA ns.example.org. host.example.org. 1 7200 1800 86400 30",
		"example.org. 300 IN NS ns.example.org.",
		"ns.example.org. 300 IN A 192.0.2.53",
		"www.example.org. 300 IN A 192.0.2.1",
		"www.example.org. 300 IN AAAA 2001:db8::1",
		`unknown.example.org. 300 IN TYPE65400 \# 3 abcdef`,
	}
	for i := range 20 {
		zone = append(zone, fmt.Sprintf(`big.example.org. 300 IN TXT "%03d%s"`, i, strings.Repeat("x", 100)))
	}
	for i := range 200 {
		zone = append(zone, fmt.Sprintf("n%d.example.org. 300 IN A 10.0.0.%d", i, i))
	}
	return zone
}()

// peer is a real server: how to run it, and where it listens, by the scheme of a TO.
type peer struct {
	name string
	run  func(t *testing.T, dir string, certFile, keyFile string) map[string]string
}

var peers = []peer{{"NSD", runNSD}, {"Knot", runKnot}, {"Unbound", runUnbound}, {"CoreDNS", runCoreDNS}}

func TestRealServersAsUpstreams(t *testing.T) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			ca := dnstest.NewCA(t)
			certFile, keyFile := ca.Files(t, "peer.example")
			dir := t.TempDir()
			roots := proctest.WriteFile(t, dir, "ca.pem", "%s", ca.PEM())
			for scheme, addr := range p.run(t, dir, certFile, keyFile) {
				t.Run(scheme, func(t *testing.T) {
					s := start(t, fmt.Sprintf(".:0 {\nforward . %s://%s {\ntls %s\ntls_servername peer.example\n}\n}", scheme,
						addr, roots))
					size := uint16(1232)
					if scheme == "quic" || scheme == "https3" {
						size = 4096 // CoreDNS cuts replies to the size for UDP here, too
					}
					askPeer(t, s, size)
				})
			}
		})
	}
}

// askPeer asks for one of each kind, with room for so many bytes, and then for many names at the same time.
func askPeer(t *testing.T, s *server.Server, size uint16) {
	t.Helper()
	wantA(t, eventually(t, s, "www.example.org.", dns.TypeA), "192.0.2.1")
	for _, tt := range []struct {
		name    string
		qtype   uint16
		rcode   int
		answers int
	}{
		{"wWw.eXample.org.", dns.TypeAAAA, dns.RcodeSuccess, 1},
		{"nosuch.example.org.", dns.TypeA, dns.RcodeNameError, 0},
		{"www.example.org.", dns.TypeTXT, dns.RcodeSuccess, 0},
		{"unknown.example.org.", 65400, dns.RcodeSuccess, 1},
		{"big.example.org.", dns.TypeTXT, dns.RcodeSuccess, 20},
	} {
		m := new(dns.Msg)
		m.SetQuestion(tt.name, tt.qtype)
		m.SetEdns0(size, false)
		r := s.Exchange(t, m, "udp")
		if r.Truncated {
			r = s.Exchange(t, m, "tcp")
		}
		if r.Rcode != tt.rcode || len(r.Answer) != tt.answers || r.Truncated || r.Question[0].Name != tt.name {
			t.Errorf("%s %s: want %s with %d records, got\n%s", tt.name, dns.Type(tt.qtype), dns.RcodeToString[tt.rcode],
				tt.answers, r)
		}
	}
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			r := s.Ask(t, fmt.Sprintf("n%d.example.org.", i), dns.TypeA)
			if len(r.Answer) != 1 || r.Answer[0].(*dns.A).A.String() != fmt.Sprintf("10.0.0.%d", i) {
				t.Errorf("n%d: got\n%s", i, r)
			}
		})
	}
	wg.Wait()
}

// eventually asks until there is an answer: a server that was just started needs a moment.
func eventually(t *testing.T, s *server.Server, name string, qtype uint16) (r *dns.Msg) {
	t.Helper()
	dnstest.WaitFor(t, "an answer for "+name, func() bool {
		r = s.Ask(t, name, qtype)
		return r.Rcode == dns.RcodeSuccess
	})
	return r
}

// command finds a server of a Debian package, or skips the test.
func command(t *testing.T, name, debianPackage string) string {
	t.Helper()
	for _, path := range []string{name, filepath.Join("/usr/sbin", name)} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	t.Skipf("%s is not installed: it comes with the Debian package %s", name, debianPackage)
	return ""
}

func zoneFile(t *testing.T, dir string) string {
	t.Helper()
	return proctest.WriteFile(t, dir, "example.org.zone", "%s\n", strings.Join(peerZone, "\n"))
}

// runNSD: NSD 4.6 reads the second question of a TLS record only when another record arrives.
func runNSD(t *testing.T, dir, certFile, keyFile string) map[string]string {
	bin := command(t, "nsd", "nsd")
	plain, secure := freeport.Addr(t), freeport.Addr(t)
	config := proctest.WriteFile(t, dir, "nsd.conf", `server:
  ip-address: %s
  ip-address: %s
  tls-port: %s
  tls-service-pem: %q
  tls-service-key: %q
  username: ""
  database: ""
  pidfile: %q
  zonelistfile: "zone.list"
  xfrdfile: "xfrd.state"
  zonesdir: %q
  server-count: 1
remote-control:
  control-enable: no
zone:
  name: example.org
  zonefile: %q
`, at(plain), at(secure), port(secure), certFile, keyFile, filepath.Join(dir, "nsd.pid"), dir, zoneFile(t, dir))
	proctest.Start(t, dir, bin, "-d", "-c", config)
	return map[string]string{"dns": plain, "tls": secure}
}

func runKnot(t *testing.T, dir, _, _ string) map[string]string {
	bin := command(t, "knotd", "knot")
	plain := freeport.Addr(t)
	config := proctest.WriteFile(t, dir, "knot.conf", `server:
    rundir: %q
    listen: %s
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: %q
log:
  - target: stderr
    any: info
zone:
  - domain: example.org
    storage: %q
    file: %q
    zonefile-sync: -1
`, dir, at(plain), filepath.Join(dir, "db"), dir, zoneFile(t, dir))
	proctest.Start(t, dir, bin, "-c", config)
	return map[string]string{"dns": plain}
}

func runUnbound(t *testing.T, dir, certFile, keyFile string) map[string]string {
	bin := command(t, "unbound", "unbound")
	plain, secure, web := freeport.Addr(t), freeport.Addr(t), freeport.Addr(t)
	var data strings.Builder
	for _, rr := range peerZone {
		fmt.Fprintf(&data, "  local-data: '%s'\n", rr)
	}
	config := proctest.WriteFile(t, dir, "unbound.conf", `server:
  interface: %s
  interface: %s
  interface: %s
  tls-port: %s
  https-port: %s
  tls-service-pem: %q
  tls-service-key: %q
  username: ""
  chroot: ""
  directory: %q
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  module-config: "iterator"
  local-zone: "example.org." static
%sremote-control:
  control-enable: no
`, at(plain), at(secure), at(web), port(secure), port(web), certFile, keyFile, dir, &data)
	proctest.Start(t, dir, bin, "-d", "-p", "-c", config)
	return map[string]string{"dns": plain, "tls": secure, "https": web}
}

// runCoreDNS runs stock plugins in a process of its own, which is this test's binary: see TestMain.
func runCoreDNS(t *testing.T, dir, certFile, keyFile string) map[string]string {
	zone := zoneFile(t, dir)
	addrs := make(map[string]string)
	var corefile strings.Builder
	for _, scheme := range []string{"dns", "tls", "https", "quic", "https3"} {
		addrs[scheme] = freeport.Addr(t)
		fmt.Fprintf(&corefile, "%s://example.org:%s {\nfile %s\n", scheme, port(addrs[scheme]), zone)
		if scheme != "dns" {
			fmt.Fprintf(&corefile, "tls %s %s\n", certFile, keyFile)
		}
		corefile.WriteString("}\n")
	}
	t.Setenv(peerCorefile, corefile.String())
	proctest.Start(t, dir, os.Args[0])
	return addrs
}

// peerCorefile is the variable that makes the test's binary a CoreDNS server with this Corefile.
const peerCorefile = "TRIDENT_TEST_PEER_COREFILE"

func TestMain(m *testing.M) {
	corefile, isPeer := os.LookupEnv(peerCorefile)
	if !isPeer {
		os.Exit(m.Run())
	}
	inst, err := caddy.Start(caddy.CaddyfileInput{Contents: []byte(corefile), ServerTypeName: "dns"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	inst.Wait() // until the test kills the process
}

// at writes an address as the configurations of NSD, Knot and Unbound want it.
func at(addr string) string { return strings.Replace(addr, ":", "@", 1) }

func port(addr string) string {
	_, p, _ := net.SplitHostPort(addr) // an address that freeport made
	return p
}
