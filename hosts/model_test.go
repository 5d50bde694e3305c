package hosts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coredns/coredns/plugin/pkg/dnstest"
	"github.com/coredns/coredns/plugin/pkg/fall"
	"github.com/coredns/coredns/plugin/test"

	"github.com/miekg/dns"
)

// model answers as the README says, the plain way: it looks at every line for every question.
type model struct {
	cfg   config
	lines []modelLine
}

type modelLine struct{ addr, name string }

func inZone(name string, zones []string) bool {
	return slices.ContainsFunc(zones, func(z string) bool { return dns.IsSubDomain(z, name) })
}

func (m *model) own(name string) (addrs []string) {
	for _, l := range m.lines {
		if l.name == name && !slices.Contains(addrs, l.addr) {
			addrs = append(addrs, l.addr)
		}
	}
	return addrs
}

func (m *model) hasBelow(name string) bool {
	return slices.ContainsFunc(m.lines, func(l modelLine) bool { return l.name != name && dns.IsSubDomain(name, l.name) })
}

func (m *model) parent(name string) string {
	i, end := dns.NextLabel(name, 0)
	if end {
		return "."
	}
	return name[i:]
}

func below(label, name string) string {
	if name == "." {
		return label + "."
	}
	return label + "." + name
}

// wildcard returns the addresses that a wildcard gives name, which has none of its own.
func (m *model) wildcard(name string) []string {
	if name == "." {
		return nil
	}
	encloser := m.parent(name)
	if m.cfg.deepWildcards {
		if m.hasBelow(name) {
			return nil
		}
		for encloser != "." && m.own(encloser) == nil && !m.hasBelow(encloser) {
			encloser = m.parent(encloser)
		}
	}
	if !inZone(encloser, m.cfg.origins) {
		return nil
	}
	return m.own(below("*", encloser))
}

// answer returns what describe makes of the plugin's answer.
func (m *model) answer(name string, qtype uint16) string {
	if qtype == dns.TypePTR {
		return m.pointer(name)
	}
	if !inZone(name, m.cfg.origins) {
		return fellThrough
	}
	through := inZone(name, m.cfg.fallthroughs.Zones)
	if m.cfg.fallUnsupported && through && qtype != typeA && qtype != typeAAAA {
		return fellThrough
	}
	addrs := m.own(name)
	if addrs == nil {
		addrs = m.wildcard(name)
	}
	switch {
	case addrs != nil:
		addrs = slices.DeleteFunc(addrs, func(a string) bool {
			return qtype != typeA && qtype != typeAAAA || strings.Contains(a, ":") != (qtype == typeAAAA)
		})
		if len(addrs) > 0 {
			return strings.Join(addrs, " ")
		}
		return "NODATA"
	case through:
		return fellThrough
	case m.hasBelow(name), m.cfg.nxdomain && slices.Contains(m.cfg.origins, name):
		return "NODATA"
	case m.cfg.nxdomain:
		return "NXDOMAIN"
	}
	return "SERVFAIL"
}

func (m *model) pointer(name string) string {
	if m.cfg.reverse {
		var names []string
		for _, l := range m.lines {
			rev, err := dns.ReverseAddr(l.addr)
			if err == nil && rev == name && inZone(l.name, m.cfg.origins) && !strings.HasPrefix(l.name, "*.") &&
				!slices.Contains(names, l.name) {
				names = append(names, l.name)
			}
		}
		if len(names) > 0 {
			return strings.Join(names[:min(len(names), maxPTR)], " ")
		}
	}
	if m.cfg.nxdomain && inZone(name, m.cfg.origins) && !inZone(name, m.cfg.fallthroughs.Zones) {
		return "NXDOMAIN"
	}
	return fellThrough
}

func randomName(r *rand.Rand) string {
	labels := []string{"a", "b", "c", "org", "*"}
	name := "."
	for range r.IntN(5) {
		name = below(labels[r.IntN(len(labels))], name)
	}
	return name
}

func randomAddr(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: byte(r.IntN(4))}).String()
	}
	return netip.AddrFrom4([4]byte{10, 0, 0, byte(r.IntN(6))}).String()
}

// randomBlock makes lines, spreads them over a file, a second one and the Corefile, and sets the properties.
func randomBlock(t *testing.T, r *rand.Rand) model {
	t.Helper()
	m := model{cfg: newConfig()}
	m.cfg.reload = 0
	m.cfg.origins = [][]string{{"."}, {"org."}, {"a.org.", "b.org."}, {"org.", "a.org.", "10.in-addr.arpa."}}[r.IntN(4)]
	m.cfg.fallthroughs = []fall.F{fall.Zero, fall.Root, {Zones: []string{"a.org."}}}[r.IntN(3)]
	m.cfg.fallUnsupported = r.IntN(2) == 0
	m.cfg.deepWildcards = r.IntN(2) == 0
	m.cfg.nxdomain = r.IntN(2) == 0
	m.cfg.reverse = r.IntN(4) > 0
	var text [3]strings.Builder
	for i := range text {
		for range r.IntN(12) {
			l := modelLine{randomAddr(r), randomName(r)}
			m.lines = append(m.lines, l)
			fmt.Fprintf(&text[i], "%s\t%s\n", l.addr, strings.ToUpper(l.name))
		}
	}
	dir := t.TempDir()
	for i, path := range []*string{&m.cfg.file, nil} {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, []byte(text[i].String()), 0o644); err != nil {
			t.Fatal(err)
		}
		if path != nil {
			*path = name
		} else {
			m.cfg.files = []string{name}
		}
	}
	for line := range strings.Lines(text[2].String()) {
		m.cfg.inline = append(m.cfg.inline, line)
	}
	return m
}

// Blocks of random lines and properties answer every question as the model does.
func TestTheAnswersAreThoseOfTheModel(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			m := randomBlock(t, r)
			h := startBlock(t, m.cfg)
			for range 300 {
				name, qtype := randomName(r), []uint16{typeA, typeAAAA, dns.TypeTXT}[r.IntN(3)]
				if r.IntN(4) == 0 {
					qtype = dns.TypePTR
					name, _ = dns.ReverseAddr(randomAddr(r))
				}
				if got, want := askBlock(t, h, name, qtype), m.answer(name, qtype); got != want {
					t.Fatalf("%s %s: got %q, want %q\n%+v\n%v", name, dns.TypeToString[qtype], got, want, m.cfg, m.lines)
				}
			}
		})
	}
}

// askBlock asks a block without a server.
func askBlock(t testing.TB, h *Hosts, name string, qtype uint16) string {
	t.Helper()
	q := new(dns.Msg)
	q.SetQuestion(name, qtype)
	w := dnstest.NewRecorder(&test.ResponseWriter{})
	rcode, err := h.ServeDNS(context.Background(), w, q)
	switch {
	case err != nil:
		t.Fatal(err)
	case rcode == dns.RcodeNotZone:
		return fellThrough
	case w.Msg == nil:
		return dns.RcodeToString[rcode]
	}
	return describe(w.Msg)
}
