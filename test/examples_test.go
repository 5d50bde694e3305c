package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// Every Corefile that a document shows must start. Fences marked corefile are Corefiles; others are not looked at.
func TestEveryCorefileInTheDocumentsStarts(t *testing.T) {
	dnsserver.Port = "0"
	t.Cleanup(func() { dnsserver.Port = dnsserver.DefaultPort })
	fence := regexp.MustCompile("(?ms)^[ \t]*~~~[ ]*corefile[ ]*\n(.*?)^[ \t]*~~~|^[ \t]*```[ ]*corefile[ ]*\n(.*?)^[ \t]*```")
	started := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			started++
			corefile := m[1] + m[2]
			t.Run(filepath.ToSlash(path), func(t *testing.T) {
				records, err := os.ReadFile("../records.example")
				if err != nil {
					t.Fatal(err)
				}
				t.Chdir(t.TempDir())
				proctest.WriteFile(t, ".", "records.example", "%s", records)
				config, _ := freePorts(t, corefile)
				server.Start(t, config)
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if started == 0 {
		t.Error("no document has a fence marked corefile")
	}
}

var (
	portNumber   = regexp.MustCompile(`([^:\s]):(\d{2,5})\b`)
	bareListener = regexp.MustCompile(`(?m)^(\s*(?:health|ready|prometheus))[ \t]*(\{?)[ \t]*$`)
)

// freePorts puts free ports in the place of the numbers in a Corefile, the same number always the same port, and gives
// an address to the plugins that would listen on a fixed port. It returns the port for each number, too.
func freePorts(t *testing.T, corefile string) (config string, ports map[string]string) {
	t.Helper()
	ports = make(map[string]string)
	config = portNumber.ReplaceAllStringFunc(corefile, func(s string) string {
		number := s[strings.LastIndex(s, ":")+1:]
		if ports[number] == "" {
			ports[number] = freeport.Port(t)
		}
		return strings.TrimSuffix(s, number) + ports[number]
	})
	config = bareListener.ReplaceAllStringFunc(config, func(s string) string {
		m := bareListener.FindStringSubmatch(s)
		return m[1] + " " + freeport.Addr(t) + " " + m[2]
	})
	return config, ports
}

// The five answers that `make run` promises, from the Corefile that it serves, and again after a restart.
func TestCorefileExampleAnswersWhatMakeRunPrints(t *testing.T) {
	corefile, err := os.ReadFile("../Corefile.example")
	if err != nil {
		t.Fatal(err)
	}
	records, err := os.ReadFile("../records.example")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	proctest.WriteFile(t, ".", "records.example", "%s", records)
	config, ports := freePorts(t, string(corefile))
	for _, run := range []string{"first run", "second run"} {
		t.Run(run, func(t *testing.T) {
			s := server.Start(t, config).At("127.0.0.1:" + ports["1053"])
			for _, tt := range []struct {
				name  string
				qtype uint16
				want  []string
			}{
				{"router.home.arpa.", dns.TypeA, []string{"10.0.0.1"}},
				{"www.trident.test.", dns.TypeA, []string{"10.0.0.10"}},
				{"db.trident.test.", dns.TypeSRV, []string{"10 100 5432 a.db.trident.test.", "20 100 5432 b.db.trident.test."}},
				{"10.0.0.10.in-addr.arpa.", dns.TypePTR, []string{"www.trident.test."}},
				{"www.upstream.test.", dns.TypeA, []string{"192.0.2.80"}},
			} {
				if got := eventually(t, s, tt.name, tt.qtype); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
					t.Errorf("%s %s: %q, want %q", tt.name, dns.Type(tt.qtype), got, tt.want)
				}
			}
		})
	}
}

// eventually asks until there is an answer, since etcd starts beside the server, and returns the rdata of the answers.
func eventually(t *testing.T, s *server.Server, name string, qtype uint16) []string {
	t.Helper()
	for deadline := time.Now().Add(proctest.Wait); ; <-time.After(20 * time.Millisecond) {
		r := s.Ask(t, name, qtype)
		if len(r.Answer) == 0 && time.Now().Before(deadline) {
			continue
		}
		var rdata []string
		for _, rr := range r.Answer {
			rdata = append(rdata, strings.TrimPrefix(rr.String(), rr.Header().String()))
		}
		return rdata
	}
}
