package forward

import (
	"testing"

	"github.com/miekg/dns"
)

func TestVerdict(t *testing.T) {
	r := rules{
		failover:     []int{dns.RcodeServerFailure, dns.RcodeNameError},
		next:         []int{dns.RcodeNameError},
		nextOnNodata: true,
	}
	for _, tt := range []struct {
		rcode           int
		answers         int
		another, onward bool
	}{
		{dns.RcodeSuccess, 1, false, false},
		{dns.RcodeSuccess, 0, false, true},
		{dns.RcodeServerFailure, 0, true, false},
		{dns.RcodeNameError, 0, true, true},
		{dns.RcodeNameError, 1, true, true}, // at the end of a chain of CNAMEs
		{dns.RcodeRefused, 0, false, false},
	} {
		m := new(dns.Msg)
		m.Rcode = tt.rcode
		m.Answer = make([]dns.RR, tt.answers)
		if another, onward := r.failsOver(m), r.passesOn(m); another != tt.another || onward != tt.onward {
			t.Errorf("%+v: another upstream %t, next block %t", tt, another, onward)
		}
		if (rules{}).failsOver(m) || (rules{}).passesOn(m) {
			t.Errorf("%s is not good enough without a rule", dns.RcodeToString[tt.rcode])
		}
	}
}

func TestMessagesThatAreNeverSentOn(t *testing.T) {
	question := func(change func(*dns.Msg)) *dns.Msg {
		m := new(dns.Msg)
		m.SetQuestion("example.org.", dns.TypeA)
		change(m)
		return m
	}
	sig := func(covered uint16) *dns.SIG {
		s := new(dns.SIG)
		s.Hdr = dns.RR_Header{Name: ".", Rrtype: dns.TypeSIG, Class: dns.ClassANY}
		s.TypeCovered = covered
		return s
	}
	for _, tt := range []struct {
		name  string
		m     *dns.Msg
		rcode int // success: it is sent on
	}{
		{"plain", question(func(*dns.Msg) {}), dns.RcodeSuccess},
		{"EDNS", question(func(m *dns.Msg) { m.SetEdns0(1232, true) }), dns.RcodeSuccess},
		{"UPDATE", question(func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }), dns.RcodeNotImplemented},
		{"NOTIFY", question(func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify }), dns.RcodeNotImplemented},
		{"STATUS", question(func(m *dns.Msg) { m.Opcode = dns.OpcodeStatus }), dns.RcodeNotImplemented},
		{"AXFR", question(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAXFR }), dns.RcodeRefused},
		{"IXFR", question(func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeIXFR }), dns.RcodeRefused},
		{"TSIG", question(func(m *dns.Msg) { m.SetTsig("key.", dns.HmacSHA256, 300, 0) }), dns.RcodeNotImplemented},
		{"SIG(0)", question(func(m *dns.Msg) { m.Extra = append(m.Extra, sig(0)) }), dns.RcodeNotImplemented},
		{"SIG of an RRset", question(func(m *dns.Msg) { m.Extra = append(m.Extra, sig(dns.TypeA)) }), dns.RcodeSuccess},
		{"a reply", question(func(m *dns.Msg) { m.Response = true }), dns.RcodeFormatError},
		{"no question", question(func(m *dns.Msg) { m.Question = nil }), dns.RcodeFormatError},
		{"two questions", question(func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }), dns.RcodeFormatError},
	} {
		rcode, refused := refusal(tt.m)
		if rcode != tt.rcode || refused != (tt.rcode != dns.RcodeSuccess) {
			t.Errorf("%s: %s, refused %t; want %s", tt.name, dns.RcodeToString[rcode], refused, dns.RcodeToString[tt.rcode])
		}
	}
}
