package upstream

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// received has one server get m over proto and returns what it saw.
func received(t *testing.T, m *dns.Msg, proto string) *dns.Msg {
	t.Helper()
	seen := make(chan *dns.Msg, 8)
	script := func(q *dnstest.Query) {
		seen <- q.Msg
		dnstest.A("192.0.2.1")(q)
	}
	var r *Resolver
	if proto == "tls" {
		up := dnstest.NewTLS(t, script)
		r = open(t, up, secure(up))
	} else {
		r = open(t, dnstest.New(t, script))
	}
	if _, err := r.Exchange(within(t, 5*time.Second), Question{Msg: m, Proto: proto}); err != nil {
		t.Fatal(err)
	}
	return <-seen
}

// exchanged asks m over UDP of a server with that script.
func exchanged(t *testing.T, m *dns.Msg, script dnstest.Script) (Answer, error) {
	t.Helper()
	return open(t, dnstest.New(t, script)).Exchange(within(t, 5*time.Second), Question{Msg: m})
}

func TestAskerGetsItsOwnIDAndQuestion(t *testing.T) {
	m := question("eXaMpLe.OrG.")
	m.Id = 4711
	answer, err := exchanged(t, m, func(q *dnstest.Query) {
		if q.Msg.Question[0].Name != "eXaMpLe.OrG." {
			t.Errorf("the resolver was asked for %s", q.Msg.Question[0].Name)
		}
		q.Msg.Question[0].Name = "example.org." // some servers lower it
		dnstest.A("192.0.2.1")(q)
	})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Msg.Id != 4711 || answer.Msg.Question[0] != m.Question[0] {
		t.Errorf("got ID %d and question %v", answer.Msg.Id, answer.Msg.Question)
	}
}

func TestQuestionIsNeverChanged(t *testing.T) {
	// Several resolvers may be asked at the same time with the same message; the race detector watches.
	m := withEDNS(question("example.org."), &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"},
		&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1, SourceNetmask: 24, Address: net.IPv4(192, 0, 2, 0).To4()})
	m.IsEdns0().SetExtendedRcode(0x100)
	before := m.Copy()
	plain, encrypted := dnstest.New(t, dnstest.A("192.0.2.1")), dnstest.NewTLS(t, dnstest.A("192.0.2.1"))
	var all sync.WaitGroup
	for _, r := range []*Resolver{open(t, plain), open(t, plain), open(t, encrypted, secure(encrypted))} {
		all.Go(func() {
			if _, err := r.Exchange(within(t, 5*time.Second), Question{Msg: m}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if m.String() != before.String() || m.Extra[0].Header().Rdlength != before.Extra[0].Header().Rdlength {
		t.Errorf("was\n%v\nis\n%v", before, m)
	}
}

func TestHeaderBitsAndEDNSPass(t *testing.T) {
	for _, proto := range []string{"udp", "tcp", "tls"} {
		m := withEDNS(question("example.org."), &dns.EDNS0_NSID{Code: dns.EDNS0NSID})
		m.RecursionDesired, m.CheckingDisabled, m.AuthenticatedData = false, true, true
		got := received(t, m, proto)
		if got.RecursionDesired || !got.CheckingDisabled || !got.AuthenticatedData {
			t.Errorf("%s: header %v", proto, got.MsgHdr)
		}
		opt := got.IsEdns0()
		if opt == nil || opt.UDPSize() != 1232 || !opt.Do() {
			t.Fatalf("%s: OPT %v", proto, opt)
		}
		if opt.Option[0].Option() != dns.EDNS0NSID {
			t.Errorf("%s: options %v", proto, opt.Option)
		}
	}
}

func TestOtherRecordsOfAQuestionPass(t *testing.T) {
	m := withEDNS(question("example.org."))
	extra, _ := dns.NewRR("example.org. 0 CLASS1 TYPE65280 \\# 2 abcd")
	m.Extra = append([]dns.RR{extra}, m.Extra...)
	got := received(t, m, "udp")
	if len(got.Extra) != 2 || got.Extra[0].Header().Rrtype != 65280 {
		t.Errorf("got %v", got)
	}
}

func TestHopByHopOptionsStayOnTheirHop(t *testing.T) {
	// RFC 7873, RFC 7828, RFC 7830.
	hop := []dns.EDNS0{
		&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"},
		&dns.EDNS0_TCP_KEEPALIVE{Code: dns.EDNS0TCPKEEPALIVE},
		&dns.EDNS0_PADDING{Padding: make([]byte, 5)},
	}
	codes := func(m *dns.Msg) (all []uint16) {
		for _, o := range m.IsEdns0().Option {
			all = append(all, o.Option())
		}
		return all
	}
	if got := codes(received(t, withEDNS(question("example.org."), hop...), "udp")); len(got) != 0 {
		t.Errorf("options %v were sent on over udp", got)
	}
	if got := codes(received(t, withEDNS(question("example.org."), hop...), "tcp")); len(got) != 1 || got[0] != dns.EDNS0TCPKEEPALIVE {
		t.Errorf("options %v were sent over tcp, want our own keepalive", got)
	}
	answer, err := exchanged(t, withEDNS(question("example.org.")), func(q *dnstest.Query) {
		m := q.Answer()
		m.IsEdns0().Option = append([]dns.EDNS0{&dns.EDNS0_EDE{InfoCode: 3}}, hop...)
		q.Reply(m)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := codes(answer.Msg); len(got) != 1 || got[0] != dns.EDNS0EDE {
		t.Errorf("options %v were handed back, want the extended error only", got)
	}
}

func TestSignaturesThatNobodyAskedForStayOnTheirHop(t *testing.T) {
	tsig := &dns.TSIG{
		Hdr:       dns.RR_Header{Name: "key.", Rrtype: dns.TypeTSIG, Class: dns.ClassANY},
		Algorithm: dns.HmacSHA256, TimeSigned: 1, Fudge: 300, MACSize: 32, MAC: strings.Repeat("00", 32),
	}
	sig0 := &dns.SIG{RRSIG: dns.RRSIG{
		Hdr:        dns.RR_Header{Name: ".", Rrtype: dns.TypeSIG, Class: dns.ClassANY},
		SignerName: "key.", Signature: "AAAA",
	}}
	for name, signature := range map[string]dns.RR{"TSIG": tsig, "SIG(0)": sig0} {
		t.Run(name, func(t *testing.T) {
			answer, err := exchanged(t, withEDNS(question("example.org.")), func(q *dnstest.Query) {
				m := q.Answer()
				m.Answer = []dns.RR{&dns.A{
					Hdr: dns.RR_Header{Name: "example.org.", Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60},
					A:   net.IPv4(192, 0, 2, 1),
				}}
				m.Extra = append(m.Extra, signature)
				q.Reply(m)
			})
			if err != nil {
				t.Fatal(err)
			}
			if m := answer.Msg; address(m) != "192.0.2.1" || len(m.Extra) != 1 || m.IsEdns0() == nil {
				t.Errorf("got %v, want the address and OPT alone", m)
			}
		})
	}
}

func TestEncryptedQuestionsArePadded(t *testing.T) {
	// RFC 8467, section 4.1. A question without EDNS gets an OPT record for it, and the reply loses it again.
	up := dnstest.NewTLS(t, func(q *dnstest.Query) {
		if len(q.Wire)%padBlock != 0 {
			t.Errorf("a question of %d bytes", len(q.Wire))
		}
		dnstest.A("192.0.2.1")(q)
	})
	r := open(t, up, secure(up))
	for _, name := range []string{".", "example.org.", strings.Repeat("abcdefg.", 30)} {
		if got := ask(t, r, "", name).Msg.IsEdns0(); got != nil {
			t.Errorf("who asked without EDNS got %v", got)
		}
		if _, err := r.Exchange(within(t, time.Second), Question{Msg: withEDNS(question(name))}); err != nil {
			t.Error(err)
		}
	}
}

func TestReplyBitsPass(t *testing.T) {
	answer, err := exchanged(t, withEDNS(question("example.org.")), func(q *dnstest.Query) {
		m := q.Answer()
		m.Authoritative, m.AuthenticatedData, m.CheckingDisabled = true, true, true
		m.Rcode = dns.RcodeBadVers
		q.Reply(m)
	})
	if err != nil {
		t.Fatal(err)
	}
	m := answer.Msg
	if !m.Authoritative || !m.AuthenticatedData || !m.CheckingDisabled || !m.RecursionAvailable || m.Rcode != dns.RcodeBadVers {
		t.Errorf("got %v", m)
	}
	if _, err := m.Pack(); err != nil {
		t.Errorf("cannot be sent on: %v", err)
	}
}

func TestRefusalWithoutAQuestionIsAnAnswer(t *testing.T) {
	answer, err := exchanged(t, question("example.org."), dnstest.Raw([]byte{0x81, 0x85, 0, 0, 0, 0, 0, 0, 0, 0}))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Msg.Rcode != dns.RcodeRefused || len(answer.Msg.Question) != 1 {
		t.Errorf("got %v", answer.Msg)
	}
}

// reply is the reply to A example.org. with these records, in hexadecimal, as its answer section.
func reply(count byte, records ...string) []byte {
	wire := []byte{0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0}
	wire = append(wire, "\x07example\x03org\x00\x00\x01\x00\x01"...)
	for _, r := range records {
		b, err := hex.DecodeString(strings.ReplaceAll(r, " ", ""))
		if err != nil {
			panic(err)
		}
		wire = append(wire, b...)
	}
	return wire
}

const (
	goodA = "c00c 0001 0001 0000003c 0004 c0000201"
	// A CAA record whose tag is longer than its rdata.
	badCAA = "c00c 0101 0001 0000003c 0003 00ff69"
	// An A record of three bytes.
	shortA = "c00c 0001 0001 0000003c 0003 c00002"
	// An MX record whose name runs over its end.
	badMX = "c00c 000f 0001 0000003c 0003 000a05"
)

func TestUnparseableRdataGoesOnAsAnUnknownRecord(t *testing.T) {
	for name, tt := range map[string]struct{ bad, want string }{
		"CAA":           {badCAA, "00ff69"},
		"empty APL":     {"c00c 002a 0001 0000003c 0000", ""},
		"empty unknown": {"c00c ff00 0001 0000003c 0000", ""},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := exchanged(t, question("example.org."), dnstest.Raw(reply(3, goodA, tt.bad, goodA)))
			if err != nil {
				t.Fatal(err)
			}
			if n := len(answer.Msg.Answer); n != 3 {
				t.Fatalf("got %d records, want 3", n)
			}
			unknown, ok := answer.Msg.Answer[1].(*dns.RFC3597)
			if !ok || unknown.Rdata != tt.want {
				t.Fatalf("got %v, want rdata %q", answer.Msg.Answer[1], tt.want)
			}
			wire, err := answer.Msg.Pack()
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := hex.DecodeString(tt.want)
			if !bytes.Contains(wire, append([]byte{0, 0, 0, 60, 0, byte(len(raw))}, raw...)) {
				t.Errorf("the bytes are not passed on: %x", wire)
			}
		})
	}
}

func TestReplyBeyondRepairIsAFailedAttempt(t *testing.T) {
	for name, wire := range map[string][]byte{
		"name in rdata":     reply(1, badMX),
		"short A":           reply(1, shortA),
		"long AAAA":         reply(1, "c00c 001c 0001 0000003c 0011 20010db8 00000000 00000000 00000001 00"),
		"torn RRSIG":        reply(1, "c00c 002e 0001 0000003c 0014 00010502 0000003c 00000000 00000000 0000 3f61"),
		"torn TXT":          reply(1, "c00c 0010 0001 0000003c 0002 0561"),
		"empty TXT":         reply(1, "c00c 0010 0001 0000003c 0000"),
		"empty CNAME":       reply(1, "c00c 0005 0001 0000003c 0000"),
		"empty CAA":         reply(1, "c00c 0101 0001 0000003c 0000"),
		"pointer to itself": reply(1, "c01d 0001 0001 0000003c 0004 c0000201"),
	} {
		t.Run(name, func(t *testing.T) {
			up := dnstest.New(t, dnstest.Raw(wire))
			refuse(t, open(t, up), Question{Msg: question("example.org.")}, 5*time.Second, ErrMalformed)
		})
	}
}

// Plugins assert what a record is by its type alone: an unknown record in the place of one of these makes them panic.
func TestNoTypeThatPluginsAssertGoesOnAsAnUnknownRecord(t *testing.T) {
	asserted := []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeNS, dns.TypeCNAME, dns.TypeSOA, dns.TypePTR, dns.TypeMX,
		dns.TypeNAPTR, dns.TypeSRV, dns.TypeDNAME, dns.TypeRRSIG, dns.TypeOPT}
	for _, rrtype := range asserted {
		for _, rdata := range []string{"", "00", "c0", "c00c", "ffff", strings.Repeat("00", 7), strings.Repeat("3f", 70)} {
			wire := reply(1, fmt.Sprintf("c00c %04x 0001 0000003c %04x %s", rrtype, len(rdata)/2, rdata))
			wire = append([]byte{0, 0}, wire...) // the ID
			m, _, err := unpack(wire, 2+len(reply(0)), question("example.org."), false)
			if err != nil {
				continue
			}
			for _, rr := range m.Answer {
				if unknown, ok := rr.(*dns.RFC3597); ok {
					t.Errorf("rdata %q of %s went on as %v", rdata, dns.Type(rrtype), unknown)
				}
			}
		}
	}
}

func TestCutReplyIsTruncatedOverUDPAndMalformedOverTCP(t *testing.T) {
	for name, wire := range map[string][]byte{
		"in rdata":       reply(1, goodA[:len(goodA)-4]),
		"in a header":    reply(1, "c00c 0001"),
		"in a name":      reply(1, "0361"),
		"between two":    reply(2, goodA),
		"of all records": reply(9),
	} {
		t.Run(name, func(t *testing.T) {
			up := dnstest.New(t, dnstest.Raw(wire))
			r := open(t, up)
			m := ask(t, r, "udp", "example.org.").Msg
			if !m.Truncated || len(m.Answer) != 0 {
				t.Errorf("got %v, want TC and no records", m)
			}
			refuse(t, r, Question{Msg: question("example.org."), Proto: "tcp"}, 5*time.Second, ErrMalformed)
		})
	}
}

func TestExtendedRcodeWithoutRoomBecomesServfail(t *testing.T) {
	up := dnstest.NewTLS(t, func(q *dnstest.Query) {
		m := q.Answer()
		m.Rcode = dns.RcodeBadCookie
		q.Reply(m)
	})
	m := ask(t, open(t, up, secure(up)), "", "example.org.").Msg
	if m.Rcode != dns.RcodeServerFailure {
		t.Errorf("got rcode %d", m.Rcode)
	}
	if _, err := m.Pack(); err != nil {
		t.Errorf("cannot be sent on: %v", err)
	}
}

func TestWhatMustNotBeSentOnByHalfIsRefused(t *testing.T) {
	tsig := question("example.org.")
	tsig.SetTsig("key.", dns.HmacSHA256, 300, time.Now().Unix())
	sig0 := question("example.org.")
	sig0.Extra = append(sig0.Extra, &dns.SIG{RRSIG: dns.RRSIG{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeSIG, Class: dns.ClassANY}}})
	two := question("example.org.")
	two.Question = append(two.Question, two.Question[0])
	unpackable := question("example.org.")
	unpackable.Question[0].Name = "a..example."
	long := question(strings.Repeat("a", 64) + ".example.")
	for name, tt := range map[string]struct {
		m    *dns.Msg
		want error
	}{
		"TSIG":           {tsig, ErrUnsupported},
		"SIG(0)":         {sig0, ErrUnsupported},
		"update":         {new(dns.Msg).SetUpdate("example.org."), ErrUnsupported},
		"notify":         {new(dns.Msg).SetNotify("example.org."), ErrUnsupported},
		"AXFR":           {new(dns.Msg).SetAxfr("example.org."), ErrUnsupported},
		"IXFR":           {new(dns.Msg).SetIxfr("example.org.", 1, "ns.", "mbox."), ErrUnsupported},
		"no question":    {new(dns.Msg), ErrRequest},
		"two questions":  {two, ErrRequest},
		"no name at all": {question(""), ErrRequest},
		"empty label":    {unpackable, ErrRequest},
		"long label":     {long, ErrRequest},
		"a reply":        {new(dns.Msg).SetReply(question("example.org.")), ErrRequest},
	} {
		t.Run(name, func(t *testing.T) {
			up := dnstest.New(t, dnstest.A("192.0.2.1"))
			refuse(t, open(t, up), Question{Msg: tt.m}, time.Second, tt.want)
			if n := up.Questions(""); n != 0 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}
