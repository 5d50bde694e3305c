package parity

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// question is one question with everything about it that may change an answer.
type question struct {
	name   string
	qtype  uint16
	tcp    bool
	size   uint16 // EDNS UDP size; 0 asks without EDNS
	do     bool
	noRD   bool
	cd, ad bool
}

func (q question) String() string {
	s := fmt.Sprintf("%s %s", q.name, dns.Type(q.qtype))
	for _, o := range []struct {
		on   bool
		text string
	}{{q.tcp, "tcp"}, {q.size > 0, fmt.Sprintf("edns=%d", q.size)}, {q.do, "do"}, {q.noRD, "nord"}, {q.cd, "cd"}, {q.ad, "ad"}} {
		if o.on {
			s += " +" + o.text
		}
	}
	return s
}

func (q question) msg() *dns.Msg {
	m := new(dns.Msg)
	m.SetQuestion(q.name, q.qtype)
	m.RecursionDesired, m.CheckingDisabled, m.AuthenticatedData = !q.noRD, q.cd, q.ad
	if q.size > 0 {
		m.SetEdns0(q.size, q.do)
	}
	return m
}

// forms are the ways in which a name and type are asked: the plain one for every pair, the others in turn.
var forms = []question{
	{tcp: true},
	{size: 1232},
	{size: 512},
	{size: 4096, do: true},
	{tcp: true, size: 4096, do: true},
	{noRD: true},
	{cd: true, ad: true},
	{size: 1232, ad: true, noRD: true},
}

// ask makes the questions for all names and types: each pair in its plain form and in one of the other forms, and each
// name in mixed case.
func ask(names []string, types []uint16) []question {
	var qs []question
	for i, name := range names {
		for j, qtype := range types {
			qs = append(qs, question{name: name, qtype: qtype})
			f := forms[(i*len(types)+j)%len(forms)]
			f.name, f.qtype = name, qtype
			qs = append(qs, f)
		}
		qs = append(qs, question{name: mixCase(name), qtype: types[i%len(types)]})
	}
	return qs
}

// mixCase turns every second letter into upper case.
func mixCase(name string) string {
	b := []byte(name)
	for i := 0; i < len(b); i += 2 {
		b[i] = strings.ToUpper(string(b[i]))[0]
	}
	return string(b)
}

// around returns each name with its parents up to the root, a name below it, one beside it and one below that.
func around(names ...string) []string {
	var all []string
	seen := make(map[string]bool)
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	for _, name := range names {
		name = dns.Fqdn(name)
		for off, end := 0, false; !end; off, end = dns.NextLabel(name, off) {
			add(name[off:])
		}
		add("below." + name)
		if off, end := dns.NextLabel(name, 0); !end {
			add("beside." + name[off:])
			add("x.beside." + name[off:])
		}
	}
	add(".")
	return all
}
