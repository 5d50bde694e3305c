package backend

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// memory is a Store and View of a few records in a slice.
type memory struct {
	zones   map[string]*Zone
	records []stored
	cuts    map[string]bool
}

type stored struct {
	path string
	r    *skydns.Record
}

// newMemory reads lines "KEY VALUE" below /skydns.
func newMemory(t testing.TB, zones []string, lines string) *memory {
	t.Helper()
	m := &memory{zones: map[string]*Zone{}, cuts: map[string]bool{}}
	for _, name := range zones {
		z := NewZone(name)
		m.zones[z.Name] = z
	}
	for line := range strings.Lines(lines) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		path, err := skydns.Prefix("/skydns").Path(key)
		if err != nil {
			t.Fatal(err)
		}
		r, err := skydns.Parse([]byte(value), 0)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		m.records = append(m.records, stored{path, r})
		if rr := r.RR(); rr != nil && rr.Header().Rrtype == dns.TypeNS {
			m.cuts[skydns.StripPath(path, r.Strip())] = true
		}
	}
	slices.SortStableFunc(m.records, func(a, b stored) int { return cmp.Compare(a.path, b.path) })
	return m
}

func (m *memory) Ascend(from string, yield func(string, *skydns.Record) bool) {
	start, _ := slices.BinarySearchFunc(m.records, from, func(s stored, from string) int { return cmp.Compare(s.path, from) })
	for _, s := range m.records[start:] {
		if !yield(s.path, s.r) {
			return
		}
	}
}

func (m *memory) Owned(path string, yield func(string, *skydns.Record) bool) {
	for _, s := range m.records {
		if s.path != path && skydns.StripPath(s.path, s.r.Strip()) == path && !yield(s.path, s.r) {
			return
		}
	}
}

func (m *memory) Cut(path string) bool { return m.cuts[path] }
func (m *memory) HasCuts() bool        { return len(m.cuts) > 0 }
func (m *memory) Serial(*Zone) uint32  { return 7 }

func (m *memory) Zone(name string) (*Zone, Store) {
	for offset, end := 0, false; !end; offset, end = dns.NextLabel(name, offset) {
		if z, ok := m.zones[name[offset:]]; ok {
			return z, m
		}
	}
	if z, ok := m.zones["."]; ok {
		return z, m
	}
	return nil, nil
}

func (m *memory) IsZone(path string) bool { return m.zones[skydns.NameOf(path)] != nil }

// show writes a result down: the rcode, then a line for each record, "?" before those of the authority section and "+"
// before additional ones.
func show(res Result) string {
	lines := []string{dns.RcodeToString[res.Rcode]}
	for _, s := range []struct {
		mark string
		rrs  []dns.RR
	}{{"", res.Answer}, {"? ", res.Ns}, {"+ ", res.Extra}} {
		for _, rr := range s.rrs {
			if soa, ok := rr.(*dns.SOA); ok {
				lines = append(lines, s.mark+"SOA "+soa.Hdr.Name)
				continue
			}
			lines = append(lines, s.mark+strings.ReplaceAll(strings.ReplaceAll(rr.String(), "\t", " "), " IN ", " "))
		}
	}
	return strings.Join(lines, "\n")
}

// want trims what an indented literal adds.
func want(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// ask looks "NAME TYPE" up.
func ask(t testing.TB, m *memory, s Settings, question string, outside answers) Result {
	t.Helper()
	name, typ, _ := strings.Cut(question, " ")
	qtype, ok := dns.StringToType[typ]
	if !ok {
		t.Fatalf("no type in %q", question)
	}
	q := Question{Name: name, Type: qtype}
	if outside != nil {
		q.Outside = outside.lookup
	}
	r := Resolver{s}
	res := r.Lookup(context.Background(), m, q)
	reply := new(dns.Msg)
	reply.SetQuestion(name, qtype)
	reply.Answer, reply.Ns, reply.Extra = res.Answer, res.Ns, res.Extra
	packed, err := reply.Pack()
	if err == nil {
		err = new(dns.Msg).Unpack(packed) // Pack lets names pass that are too long
	}
	if err != nil {
		t.Errorf("%s: the reply cannot be sent: %v", question, err)
	}
	return res
}

// answers are what names outside have, by "NAME TYPE": records, one a line, or an rcode.
type answers map[string]string

func (a answers) lookup(_ context.Context, name string, qtype uint16) (*dns.Msg, error) {
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	text, ok := a[name+" "+dns.TypeToString[qtype]]
	if !ok {
		m.Rcode = dns.RcodeRefused
		return m, nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rcode, ok := dns.StringToRcode[line]; ok {
			m.Rcode = rcode
			continue
		}
		rr, err := dns.NewRR(line)
		if err != nil {
			return nil, err
		}
		m.Answer = append(m.Answer, rr)
	}
	return m, nil
}
