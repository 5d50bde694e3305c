package forward

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// D16, and fidelity in general: what the upstream says about its answer is what the client hears.
func TestHeaderBitsPassAsTheyCame(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	s := serve(t, "", up)
	for bits := range 1 << 4 {
		up.Use(func(q *dnstest.Query) {
			m := q.Answer()
			m.Authoritative = bits&1 != 0
			m.RecursionAvailable = bits&2 != 0
			m.AuthenticatedData = bits&4 != 0
			m.CheckingDisabled = bits&8 != 0
			m.Rcode = bits
			q.Reply(m)
		})
		r := s.Ask(t, "example.org.", dns.TypeA)
		got := 0
		for i, set := range []bool{r.Authoritative, r.RecursionAvailable, r.AuthenticatedData, r.CheckingDisabled} {
			if set {
				got |= 1 << i
			}
		}
		if got != bits || r.Rcode != bits {
			t.Errorf("sent bits %04b and rcode %d, got %04b and %d", bits, bits, got, r.Rcode)
		}
	}
}

func TestQuestionBitsReachTheUpstream(t *testing.T) {
	seen := make(chan *dns.Msg, 1)
	up := dnstest.New(t, func(q *dnstest.Query) {
		seen <- q.Msg
		dnstest.Rcode(dns.RcodeSuccess)(q)
	})
	s := serve(t, "", up)
	for bits := range 1 << 4 {
		m := new(dns.Msg)
		m.SetQuestion("example.org.", dns.TypeMX)
		m.RecursionDesired = bits&1 != 0
		m.AuthenticatedData = bits&2 != 0
		m.CheckingDisabled = bits&4 != 0
		if bits&8 != 0 {
			m.SetEdns0(1400, true)
		}
		s.Exchange(t, m, "udp")
		got := <-seen
		opt := got.IsEdns0()
		if got.RecursionDesired != m.RecursionDesired || got.AuthenticatedData != m.AuthenticatedData ||
			got.CheckingDisabled != m.CheckingDisabled || (opt != nil) != (bits&8 != 0) {
			t.Errorf("asked\n%s\nthe upstream got\n%s", m, got)
		}
		if opt != nil && (!opt.Do() || opt.UDPSize() != 1400) {
			t.Errorf("EDNS reached the upstream as %s", opt)
		}
	}
}

func TestExtendedRcodesPass(t *testing.T) {
	up := dnstest.New(t, dnstest.Rcode(dns.RcodeBadCookie))
	s := serve(t, "", up)
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeA)
	m.SetEdns0(1232, false)
	if r := s.Exchange(t, m, "udp"); r.Rcode != dns.RcodeBadCookie {
		t.Errorf("rcode %d, want %d", r.Rcode, dns.RcodeBadCookie)
	}
}

// D11: cookies, keepalive and padding are between two neighbours (RFC 7873, RFC 7828, RFC 7830); a client subnet is not.
func TestHopByHopOptionsStayOnTheirHop(t *testing.T) {
	seen := make(chan *dns.OPT, 1)
	up := dnstest.New(t, func(q *dnstest.Query) {
		seen <- q.Msg.IsEdns0()
		m := q.Answer()
		m.IsEdns0().Option = []dns.EDNS0{
			&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "00112233445566778899aabbccddeeff"},
			&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeStaleAnswer},
		}
		q.Reply(m)
	})
	s := serve(t, "", up)
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeA)
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []dns.EDNS0{
		&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0011223344556677"},
		&dns.EDNS0_TCP_KEEPALIVE{Code: dns.EDNS0TCPKEEPALIVE},
		&dns.EDNS0_PADDING{Padding: make([]byte, 16)},
		&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1, SourceNetmask: 24, Address: []byte{192, 0, 2, 0}},
	}
	r := s.Exchange(t, m, "udp")
	if got := optionCodes(<-seen); !slices.Equal(got, []uint16{dns.EDNS0SUBNET}) {
		t.Errorf("options %v reached the upstream, want the client subnet alone", got)
	}
	if got := optionCodes(r.IsEdns0()); !slices.Equal(got, []uint16{dns.EDNS0EDE}) {
		t.Errorf("options %v reached the client, want the extended error alone", got)
	}
}

func optionCodes(opt *dns.OPT) []uint16 {
	var codes []uint16
	if opt != nil {
		for _, o := range opt.Option {
			codes = append(codes, o.Option())
		}
	}
	return codes
}

// RFC 3597, section 5: a type that nobody knows passes bit for bit.
func TestUnknownTypesPass(t *testing.T) {
	up := dnstest.New(t, dnstest.Records(`60 IN TYPE65399 \# 4 0a000001`))
	s := serve(t, "", up)
	r := s.Ask(t, "example.org.", 65399)
	if len(r.Answer) != 1 {
		t.Fatalf("got\n%s", r)
	}
	if rr, ok := r.Answer[0].(*dns.RFC3597); !ok || rr.Rdata != "0a000001" {
		t.Errorf("got %s", r.Answer[0])
	}
}

// D3: a reply that is too big for the client is cut with TC set, over UDP only.
func TestABigReplyIsCutWithTCAndWholeOverTCP(t *testing.T) {
	var rrs []string
	for i := range 100 {
		rrs = append(rrs, fmt.Sprintf("60 IN A 192.0.2.%d", i))
	}
	up := dnstest.New(t, dnstest.Records(rrs...))
	s := serve(t, "", up)
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeA)
	if r := s.Exchange(t, m, "udp"); !r.Truncated || len(r.Answer) >= len(rrs) {
		t.Errorf("over UDP: TC %t with %d records", r.Truncated, len(r.Answer))
	}
	if r := s.Exchange(t, m, "tcp"); r.Truncated || len(r.Answer) != len(rrs) {
		t.Errorf("over TCP: TC %t with %d records", r.Truncated, len(r.Answer))
	}
}

// D5: prefer_udp asks again over TCP for what UDP had to cut; without it, the client does.
func TestTruncatedReplies(t *testing.T) {
	script := dnstest.Over(map[string]dnstest.Script{"udp": dnstest.Truncated, "tcp": dnstest.A("192.0.2.1")})
	t.Run("as they came", func(t *testing.T) {
		up := dnstest.New(t, script)
		if r := serve(t, "", up).Ask(t, "example.org.", dns.TypeA); !r.Truncated {
			t.Errorf("TC was lost:\n%s", r)
		}
	})
	t.Run("prefer_udp", func(t *testing.T) {
		up := dnstest.New(t, script)
		wantA(t, serve(t, "prefer_udp", up).Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
	})
}

// B10: a datagram that answers another question ended the wait, with FORMERR for the client.
func TestRepliesToOtherQuestionsAreDroppedWhileTheWaitGoesOn(t *testing.T) {
	up := dnstest.New(t, dnstest.Several(dnstest.WrongQuestion, dnstest.WrongID, dnstest.Raw([]byte{0x80}),
		dnstest.A("192.0.2.1")))
	wantA(t, serve(t, "max_connect_attempts 1", up).Ask(t, "example.org.", dns.TypeA), "192.0.2.1")
}

// D17, A11 and more: what cannot be sent on whole is not sent on at all.
func TestWhatIsNeverSentOnIsAnsweredHere(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	s := serve(t, "", up)
	signed := new(dns.Msg)
	signed.SetQuestion("example.org.", dns.TypeA)
	sig := &dns.SIG{RRSIG: dns.RRSIG{SignerName: "key."}}
	sig.Hdr = dns.RR_Header{Name: ".", Rrtype: dns.TypeSIG, Class: dns.ClassANY}
	signed.Extra = append(signed.Extra, sig)
	notify := new(dns.Msg)
	notify.SetNotify("example.org.")
	for _, tt := range []struct {
		name  string
		m     *dns.Msg
		rcode int
	}{
		{"AXFR", new(dns.Msg).SetAxfr("example.org."), dns.RcodeRefused},
		{"IXFR", new(dns.Msg).SetIxfr("example.org.", 1, "ns.example.org.", "host.example.org."), dns.RcodeRefused},
		{"NOTIFY", notify, dns.RcodeNotImplemented},
		{"SIG(0)", signed, dns.RcodeNotImplemented},
	} {
		if r := s.Exchange(t, tt.m, "tcp"); r.Rcode != tt.rcode || len(r.Answer) != 0 {
			t.Errorf("%s: want %s, got\n%s", tt.name, dns.RcodeToString[tt.rcode], r)
		}
	}
	if n := up.Questions(""); n != 0 {
		t.Errorf("%d of them reached the upstream", n)
	}
}

// DESIGN: rdata that cannot be parsed goes on as it is. The client here must be as simple as the reply is strange.
func TestRdataThatCannotBeParsedReachesTheClient(t *testing.T) {
	up := dnstest.New(t, func(q *dnstest.Query) {
		m := q.Answer()
		m.Answer = []dns.RR{&dns.RFC3597{
			Hdr:   dns.RR_Header{Name: q.Msg.Question[0].Name, Rrtype: dns.TypeCAA, Class: dns.ClassINET, Ttl: 60},
			Rdata: "00ff69", // a tag that is longer than what is there
		}}
		q.Reply(m)
	})
	s := serve(t, "max_connect_attempts 1", up)
	conn, err := net.Dial("udp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeCAA)
	wire, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(wire); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, 512)
	if err := conn.SetReadDeadline(time.Now().Add(server.AskTimeout)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(reply)
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{1, 1, 0, 1, 0, 0, 0, 60, 0, 3, 0, 0xff, 0x69} // CAA, IN, TTL, length, rdata
	if reply = reply[:n]; !bytes.HasSuffix(reply, want) {
		t.Errorf("reply %x, want one that ends with %x", reply, want)
	}
}
