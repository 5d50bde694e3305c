package etcd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/trident-dns/trident/etcd"
	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	_ "github.com/coredns/coredns/plugin/erratic"
	_ "github.com/coredns/coredns/plugin/metadata"
	_ "github.com/coredns/coredns/plugin/template"
	"github.com/miekg/dns"
)

// within fails the test when cond does not hold in time.
func within(t *testing.T, d time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("not within %s: %s", d, what)
}

// loaded waits until the server has a copy of the zone of name.
func loaded(t *testing.T, s *server.Server, name string) {
	t.Helper()
	within(t, 10*time.Second, name+" is loaded", func() bool {
		return s.Ask(t, name, dns.TypeSOA).Rcode != dns.RcodeServerFailure
	})
}

// put writes lines "KEY VALUE".
func put(e *etcdtest.Etcd, lines string) {
	for line := range strings.Lines(lines) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			e.Put(key, value)
		}
	}
}

// answer is the answer section in short: the data of the records, sorted.
func answer(m *dns.Msg) string {
	data := []string{}
	for _, rr := range m.Answer {
		data = append(data, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	slices.Sort(data)
	return fmt.Sprintf("%s %s", dns.RcodeToString[m.Rcode], data)
}

func wantAnswer(t *testing.T, s *server.Server, name string, qtype uint16, want string) {
	t.Helper()
	if got := answer(s.Ask(t, name, qtype)); got != want {
		t.Errorf("%s %s: got %s, want %s", name, dns.TypeToString[qtype], got, want)
	}
}

func serialOf(m *dns.Msg) uint32 {
	for _, rr := range append(m.Answer, m.Ns...) {
		if soa, ok := rr.(*dns.SOA); ok {
			return soa.Serial
		}
	}
	return 0
}

func ede(m *dns.Msg) uint16 {
	if opt := m.IsEdns0(); opt != nil {
		for _, o := range opt.Option {
			if e, ok := o.(*dns.EDNS0_EDE); ok {
				return e.InfoCode
			}
		}
	}
	return 0xffff
}
