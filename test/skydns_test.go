package test

import (
	"crypto/ecdsa"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/internal/proctest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// skydns is a server of docs/Corefile.skydns.
type skydns struct {
	*server.Server
	etcd     *etcdtest.Etcd
	key      *dns.DNSKEY
	upstream *dnstest.Server
	addr     string
	metrics  string
}

// startSkyDNS starts it with a key, an etcd and a forwarder of its own, and free ports.
func startSkyDNS(t *testing.T) *skydns {
	t.Helper()
	corefile, err := os.ReadFile("../docs/Corefile.skydns")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sky := &skydns{
		etcd: etcdtest.Start(t), key: newKey(t, filepath.Join(dir, "Kskydns.local.+013+00001")),
		upstream: dnstest.New(t, dnstest.A("192.0.2.80")),
	}
	for _, r := range []string{
		`/skydns/local/skydns/web/a {"host":"10.0.0.1","port":80}`, `/skydns/local/skydns/web/b {"host":"10.0.0.2","port":80}`,
		`/skydns/local/skydns/web/c {"host":"10.0.0.3","port":80}`, `/skydns/local/skydns/txt {"text":"hello"}`,
		`/skydns/local/skydns/alias {"host":"txt.skydns.local"}`, `/skydns/local/skydns/dns/ns/1 {"host":"10.0.0.53"}`,
		`/skydns/local/skydns/nodes/ns1 {"host":"10.0.0.99"}`, `/skydns/local/skydns/ext {"host":"www.example.org"}`,
		`/skydns/arpa/in-addr/10/0/0/1 {"host":"a.web.skydns.local"}`,
	} {
		key, value, _ := strings.Cut(r, " ")
		sky.etcd.Put(key, value)
	}
	text := strings.Replace(string(corefile), "/etc/resolv.conf", "FORWARDER", 1)
	text, ports := freePorts(t, text)
	for old, now := range map[string]string{
		"FORWARDER": sky.upstream.Addr().String(), "http://localhost:" + ports["2379"]: sky.etcd.Endpoint(),
		"file K": "file " + dir + "/K",
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("Corefile.skydns has no %q", old)
		}
		text = strings.Replace(text, old, now, 1)
	}
	sky.addr = "127.0.0.1:" + ports["53"]
	sky.metrics = "http://127.0.0.1:" + ports["9153"] + "/metrics"
	sky.Server = server.StartUnchecked(t, text).At(sky.addr)
	for deadline := time.Now().Add(proctest.Wait); sky.Ask(t, "skydns.local.", dns.TypeSOA).Rcode != dns.RcodeSuccess; {
		if time.Now().After(deadline) {
			t.Fatal("the zone is not loaded")
		}
		<-time.After(20 * time.Millisecond)
	}
	return sky
}

// newKey makes a key as dnssec-keygen does.
func newKey(t *testing.T, base string) *dns.DNSKEY {
	t.Helper()
	key := &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: "skydns.local.", Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 3600},
		Flags: 257, Protocol: 3, Algorithm: dns.ECDSAP256SHA256,
	}
	private, err := key.Generate(256)
	if err != nil {
		t.Fatal(err)
	}
	dir, name := filepath.Split(base)
	proctest.WriteFile(t, dir, name+".key", "%s\n", key)
	proctest.WriteFile(t, dir, name+".private", "%s", key.PrivateKeyString(private.(*ecdsa.PrivateKey)))
	return key
}

func (sky *skydns) rdata(t *testing.T, name string, qtype uint16) string {
	t.Helper()
	m := sky.Ask(t, name, qtype)
	data := []string{dns.RcodeToString[m.Rcode]}
	for _, rr := range m.Answer {
		data = append(data, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	slices.Sort(data[1:])
	return strings.Join(data, " ")
}

func TestCorefileSkyDNSGivesTheServiceOfSkyDNS(t *testing.T) {
	sky := startSkyDNS(t)
	for _, tt := range []struct {
		name  string
		qtype uint16
		want  string
	}{
		{"web.skydns.local.", dns.TypeA, "NOERROR 10.0.0.1 10.0.0.2 10.0.0.3"},
		{"a.web.skydns.local.", dns.TypeSRV, "NOERROR 10 100 80 a.web.skydns.local."},
		{"skydns.local.", dns.TypeNS, "NOERROR 1.ns.dns.skydns.local."},
		{"local.dns.skydns.local.", dns.TypeA, "NOERROR 10.0.0.99"},
		{"ext.skydns.local.", dns.TypeA, "NOERROR 192.0.2.80 www.example.org."},
		{"1.0.0.10.in-addr.arpa.", dns.TypePTR, "NOERROR a.web.skydns.local."},
		{"www.example.com.", dns.TypeA, "NOERROR 192.0.2.80"},
		{"9.9.9.10.in-addr.arpa.", dns.TypeA, "NOERROR 192.0.2.80"}, // forwarded
		{"host.", dns.TypeA, "SERVFAIL"},                            // ndots
		{"web.skydns.local.", dns.TypeANY, "REFUSED"},
		{"none.skydns.local.", dns.TypeA, "NXDOMAIN"},
	} {
		if got := sky.rdata(t, tt.name, tt.qtype); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.name, dns.Type(tt.qtype), got, tt.want)
		}
	}
	if ttl := sky.Ask(t, "txt.skydns.local.", dns.TypeTXT).Answer[0].Header().Ttl; ttl < 3590 || ttl > 3600 {
		t.Errorf("TTL %d, want SkyDNS's default", ttl)
	}
}

func TestCorefileSkyDNSCachesShufflesAndCounts(t *testing.T) {
	sky := startSkyDNS(t)
	for range 5 {
		sky.Ask(t, "cached.example.com.", dns.TypeA)
	}
	if n := sky.upstream.Questions(""); n != 1 {
		t.Errorf("%d questions of five were forwarded", n)
	}
	first := map[string]bool{}
	for range 100 {
		first[sky.Ask(t, "web.skydns.local.", dns.TypeA).Answer[0].String()] = true
	}
	if len(first) < 3 {
		t.Errorf("%d of 3 addresses came first in a hundred answers", len(first))
	}
	r, err := http.Get(sky.metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	page, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []string{"coredns_dns_requests_total", "coredns_cache_hits_total", "coredns_etcd_records"} {
		if !strings.Contains(string(page), metric+"{") {
			t.Errorf("no %s", metric)
		}
	}
}

func TestCorefileSkyDNSAnswersCHAOS(t *testing.T) {
	sky := startSkyDNS(t)
	for _, name := range []string{"version.bind.", "version.server.", "authors.bind.", "hostname.bind.", "id.server."} {
		m := &dns.Msg{MsgHdr: dns.MsgHdr{Id: dns.Id()}}
		m.Question = []dns.Question{{Name: name, Qtype: dns.TypeTXT, Qclass: dns.ClassCHAOS}}
		if r := sky.Exchange(t, m, "udp"); len(r.Answer) == 0 {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func TestCorefileSkyDNSFollowsStubZonesAndConfiguration(t *testing.T) {
	sky := startSkyDNS(t)
	corp := dnstest.New(t, dnstest.A("192.0.2.1"))
	sky.etcd.Put("/skydns/local/skydns/dns/stub/com/corp/ns", fmt.Sprintf(`{"host":"127.0.0.1","port":%d}`, corp.Addr().Port()))
	sky.etcd.Put("/skydns/config", `{"priority":50,"hostmaster":"dns@example.org"}`)
	for deadline := time.Now().Add(proctest.Wait); ; <-time.After(20 * time.Millisecond) {
		// Names that the cache has not seen.
		stub := sky.rdata(t, fmt.Sprintf("x%d.corp.com.", dns.Id()), dns.TypeA)
		n := sky.Ask(t, fmt.Sprintf("x%d.skydns.local.", dns.Id()), dns.TypeA).Ns
		if stub == "NOERROR 192.0.2.1" && len(n) == 1 && n[0].(*dns.SOA).Mbox == "dns.example.org." {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("stub zone: %s, negative answer: %v", stub, n)
		}
	}
}

// RFC 4035, section 5: positive answers and denials, by the key of the zone.
func TestCorefileSkyDNSSignaturesValidate(t *testing.T) {
	sky := startSkyDNS(t)
	ask := func(name string, qtype uint16) *dns.Msg {
		m := new(dns.Msg)
		m.SetQuestion(name, qtype)
		m.SetEdns0(4096, true)
		return sky.Exchange(t, m, "tcp")
	}
	if m := ask("skydns.local.", dns.TypeDNSKEY); len(m.Answer) == 0 || m.Answer[0].(*dns.DNSKEY).PublicKey != sky.key.PublicKey {
		t.Errorf("DNSKEY: %v", m)
	}
	for _, tt := range []struct {
		name  string
		qtype uint16
		data  bool
	}{
		{"web.skydns.local.", dns.TypeA, true}, {"a.web.skydns.local.", dns.TypeSRV, true}, {"txt.skydns.local.", dns.TypeTXT, true},
		{"skydns.local.", dns.TypeNS, true}, {"skydns.local.", dns.TypeSOA, true}, {"alias.skydns.local.", dns.TypeTXT, true},
		{"txt.skydns.local.", dns.TypeAAAA, false}, {"none.skydns.local.", dns.TypeA, false}, {"skydns.local.", dns.TypeMX, false},
	} {
		for _, again := range []bool{false, true} { // from the cache
			m := ask(tt.name, tt.qtype)
			if (len(m.Answer) > 0) != tt.data {
				t.Errorf("%s %s: %v", tt.name, dns.Type(tt.qtype), m)
			}
			if err := validate(sky.key, m, tt.name, tt.qtype); err != "" {
				t.Errorf("%s %s (again: %t): %s\n%v", tt.name, dns.Type(tt.qtype), again, err, m)
			}
		}
	}
	sky.delv(t)
}

// validate says what keeps a validator from taking a reply, "" when nothing does.
func validate(key *dns.DNSKEY, m *dns.Msg, name string, qtype uint16) string {
	if m.Rcode != dns.RcodeSuccess {
		return "rcode " + dns.RcodeToString[m.Rcode] // denials by NSEC records of the name itself have no NXDOMAIN
	}
	denied := false
	for _, section := range [][]dns.RR{m.Answer, m.Ns} {
		sets := map[string][]dns.RR{}
		signatures := map[string]*dns.RRSIG{}
		for _, rr := range section {
			id := strings.ToLower(rr.Header().Name) + " " + dns.TypeToString[rr.Header().Rrtype]
			switch rr := rr.(type) {
			case *dns.RRSIG:
				signatures[strings.ToLower(rr.Hdr.Name)+" "+dns.TypeToString[rr.TypeCovered]] = rr
				continue
			case *dns.NSEC:
				denied = denied || strings.EqualFold(rr.Hdr.Name, name) && !slices.Contains(rr.TypeBitMap, qtype) &&
					!slices.Contains(rr.TypeBitMap, dns.TypeCNAME)
			}
			sets[id] = append(sets[id], rr)
		}
		for id, rrs := range sets {
			sig := signatures[id]
			if sig == nil {
				return "no signature of " + id
			}
			if !sig.ValidityPeriod(time.Now()) {
				return "signature of " + id + " is not valid now"
			}
			if err := sig.Verify(key, rrs); err != nil {
				return "signature of " + id + ": " + err.Error()
			}
		}
	}
	if len(m.Answer) == 0 && !denied {
		return "nothing proves that there is no such record"
	}
	return ""
}

// delv has the validator of BIND look at answers, when it is installed.
func (sky *skydns) delv(t *testing.T) {
	t.Helper()
	bin, err := exec.LookPath("delv")
	if err != nil {
		t.Log("delv is not installed: its word is missing")
		return
	}
	anchor := proctest.WriteFile(t, t.TempDir(), "anchor", "trust-anchors { skydns.local. static-key 257 3 13 \"%s\"; };\n", sky.key.PublicKey)
	_, port, _ := strings.Cut(sky.addr, ":")
	for _, tt := range []struct{ name, qtype, want string }{
		{"web.skydns.local", "A", "; fully validated"},
		{"alias.skydns.local", "TXT", "; fully validated"},
		{"txt.skydns.local", "AAAA", "; negative response, fully validated"},
		{"none.skydns.local", "A", "; negative response, fully validated"},
	} {
		out, code := proctest.Run(t, "", bin, "@127.0.0.1", "-p", port, "-a", anchor, "+root=skydns.local", tt.name, tt.qtype)
		if !strings.Contains(out, tt.want) {
			t.Errorf("delv %s %s ends with %d:\n%s", tt.name, tt.qtype, code, out)
		}
	}
}

// Step by step, as docs/skydns.md has it.
func TestFromAnOldDumpToARunningServer(t *testing.T) {
	skyctl := proctest.Build(t, "../cmd/skyctl")
	e := etcdtest.Start(t)
	dump := proctest.WriteFile(t, t.TempDir(), "skydns.json", "%s", `{"action":"get","node":{"key":"/skydns","dir":true,"nodes":[
		{"key":"/skydns/local","dir":true,"nodes":[{"key":"/skydns/local/skydns","dir":true,"nodes":[
			{"key":"/skydns/local/skydns/web","dir":true,"nodes":[
				{"key":"/skydns/local/skydns/web/a","value":"{\"host\":\"10.0.0.1\",\"port\":\"80\"}","modifiedIndex":5,"createdIndex":5},
				{"key":"/skydns/local/skydns/web/B","value":"{\"Host\":\"10.0.0.2\",\"port\":80,\"unknown\":1}","ttl":500,"modifiedIndex":6,"createdIndex":6}]},
			{"key":"/skydns/local/skydns/alias","value":"{\"host\":\"a.web.skydns.local\"}","modifiedIndex":7,"createdIndex":7}]}]}]}}`)
	run := func(args ...string) string {
		t.Helper()
		out, code := proctest.Run(t, "", skyctl, append([]string{"--endpoints", e.Endpoint()}, args...)...)
		if code != 0 {
			t.Fatalf("skyctl %v ends with %d:\n%s", args, code, out)
		}
		return out
	}
	run("import", dump, "--dry-run")
	if keys, _ := e.Dump("/skydns"); len(keys) != 0 {
		t.Errorf("a dry run wrote %v", keys)
	}
	run("import", dump)
	run("lint")
	s := server.StartUnchecked(t, fmt.Sprintf(`.:0 {
		etcd skydns.local {
			endpoint %s
		}
	}`, e.Endpoint()))
	if got := strings.Join(eventually(t, s, "web.skydns.local.", dns.TypeSRV), ", "); got !=
		"10 50 80 a.web.skydns.local., 10 50 80 b.web.skydns.local." {
		t.Errorf("SRV: %s", got)
	}
	if got := strings.Join(eventually(t, s, "alias.skydns.local.", dns.TypeA), ", "); got != "a.web.skydns.local., 10.0.0.1" {
		t.Errorf("A through CNAME: %s", got)
	}
	if m := s.Ask(t, "b.web.skydns.local.", dns.TypeA); len(m.Answer) != 1 || m.Answer[0].Header().Ttl > 500 {
		t.Errorf("the TTL of the key: %v", m)
	}
}

// The table of docs/skydns.md has no empty row, and each test that it names exists.
func TestTheTableOfSkyDNSIsFilled(t *testing.T) {
	text, err := os.ReadFile("../docs/skydns.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t)
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for _, cell := range cells {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("an empty cell: %s", line)
			}
		}
		last := strings.TrimSpace(cells[len(cells)-1])
		if last == "-" && !strings.Contains(line, "#not-carried-over") {
			t.Errorf("neither a test nor a reason: %s", line)
		}
		for _, name := range testName.FindAllString(last, -1) {
			rows++
			if !tests[strings.Trim(name, "`")] {
				t.Errorf("there is no test %s", name)
			}
		}
	}
	if rows < 60 {
		t.Errorf("%d tests are named", rows)
	}
}

var testName = regexp.MustCompile("`Test[A-Za-z0-9]+`")

// testNames are the names of all tests of the project.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
