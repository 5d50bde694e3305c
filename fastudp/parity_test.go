//go:build linux

package fastudp

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/trident-dns/trident/fastudp/internal/mmsg"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

const (
	tsigKey    = "key.plain."
	tsigSecret = "c2VjcmV0IG9mIHRoZSB0ZXN0cw=="
)

// odd are datagrams that a listener may get, as they should not be, and some that are as they should.
func odd(t testing.TB) map[string][]byte {
	good := question(t, 4711, "a.plain.")
	with := func(at int, b ...byte) []byte {
		m := bytes.Clone(good)
		copy(m[at:], b)
		return m
	}
	packed := func(change func(*dns.Msg)) []byte {
		m := new(dns.Msg)
		m.SetQuestion("a.plain.", dns.TypeTXT)
		m.Id = 4711
		change(m)
		wire, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		return wire
	}
	soa := &dns.SOA{Hdr: dns.RR_Header{Name: "a.plain.", Rrtype: dns.TypeSOA, Class: dns.ClassINET}, Ns: ".", Mbox: "."}
	inputs := map[string][]byte{
		"good":               good,
		"empty":              {},
		"one byte":           {1},
		"eleven bytes":       good[:11],
		"header alone":       good[:12],
		"half a question":    good[:16],
		"no type":            good[:len(good)-4],
		"trailing bytes":     append(bytes.Clone(good), 1, 2, 3),
		"response":           with(2, 0x81),
		"AD and CD":          with(3, 0x30),
		"reserved bit":       with(3, 0x40),
		"no question":        with(4, 0, 0),
		"two questions":      with(4, 0, 2),
		"missing answer":     with(6, 0, 1),
		"two answers":        with(6, 0, 2),
		"two authorities":    with(8, 0, 2),
		"three additionals":  with(10, 0, 3),
		"missing additional": with(10, 0, 1),
		"pointer to itself":  append(bytes.Clone(good[:12]), 0xC0, 12, 0, 16, 0, 1),
		"pointer outside":    append(bytes.Clone(good[:12]), 0xCF, 0xFF, 0, 16, 0, 1),
		"reserved label":     with(12, 0x80),
		"label too long":     append(bytes.Clone(good[:12]), bytes.Repeat([]byte{63}, 200)...),
		"class CH":           with(len(good)-2, 0, 3),
		"class ANY":          with(len(good)-2, 0, 255),
		"upper case":         with(13, 'A'),
		"notify":             packed(func(m *dns.Msg) { m.Opcode, m.Answer = dns.OpcodeNotify, []dns.RR{soa} }),
		"IXFR":               packed(func(m *dns.Msg) { m.Question[0].Qtype, m.Ns = dns.TypeIXFR, []dns.RR{soa} }),
		"EDNS":               packed(func(m *dns.Msg) { m.SetEdns0(1232, true) }),
		"EDNS version 1":     packed(func(m *dns.Msg) { m.SetEdns0(1232, true); m.IsEdns0().SetVersion(1) }),
		"two OPT": packed(func(m *dns.Msg) {
			m.SetEdns0(1232, true)
			m.Extra = append(m.Extra, m.Extra[0])
		}),
		"padding": packed(func(m *dns.Msg) {
			m.SetEdns0(1232, true)
			m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_PADDING{Padding: make([]byte, 400)}}
		}),
		"extended rcode": packed(func(m *dns.Msg) { m.SetEdns0(1232, true); m.IsEdns0().SetExtendedRcode(16) }),
		"TSIG of an unknown key": packed(func(m *dns.Msg) {
			m.SetTsig("other.plain.", dns.HmacSHA256, 300, 1)
			m.Extra[0].(*dns.TSIG).MAC, m.Extra[0].(*dns.TSIG).MACSize = "00", 1
		}),
		"TSIG with a bad MAC": packed(func(m *dns.Msg) {
			m.SetTsig(tsigKey, dns.HmacSHA256, 300, 1)
			m.Extra[0].(*dns.TSIG).MAC, m.Extra[0].(*dns.TSIG).MACSize = "00", 1
		}),
		"TSIG before OPT": packed(func(m *dns.Msg) {
			m.SetTsig(tsigKey, dns.HmacSHA256, 300, 1)
			m.SetEdns0(1232, false)
		}),
	}
	for _, opcode := range []byte{1, 2, 3, 4, 5, 6, 15} {
		inputs["opcode "+dns.OpcodeToString[int(opcode)]+string('0'+opcode)] = with(2, opcode<<3)
	}
	return inputs
}

// CoreDNS's own listener is the measure, byte for byte.
func TestOddDatagramsAreAnsweredAsByCoreDNSsOwnListener(t *testing.T) {
	for _, more := range []string{"", "\n update"} {
		stock := server.Start(t, ".:0 {\n bind 127.0.0.1\n tsig {\n secret "+tsigKey+" "+tsigSecret+"\n }\n echo"+more+"\n}")
		fast := start(t, "dns://127.0.0.2:0", ".:0 {\n bind 127.0.0.2\n fastudp\n tsig {\n secret "+tsigKey+" "+
			tsigSecret+"\n }\n echo"+more+"\n}")
		inputs := odd(t)
		want, got := askAll(t, stock.Addr(), inputs), askAll(t, fast.Addr(), inputs)
		for name := range inputs {
			if !bytes.Equal(got[name], want[name]) {
				t.Errorf("%s%s: got %x, want %x", name, more, got[name], want[name])
			}
		}
		if want["good"] == nil {
			t.Error("not even the good question was answered")
		}
	}
}

// silence is how long no reply must come for none to be expected.
const silence = time.Second

// askAll sends each input from a socket of its own and returns the replies.
func askAll(t *testing.T, addr string, inputs map[string][]byte) map[string][]byte {
	t.Helper()
	var (
		asking  sync.WaitGroup
		mu      sync.Mutex
		replies = make(map[string][]byte)
	)
	for name, in := range inputs {
		asking.Go(func() {
			c, err := net.Dial("udp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			_, err = c.Write(in)
			buf := make([]byte, dns.MaxMsgSize)
			_ = c.SetReadDeadline(time.Now().Add(silence))
			if n, rerr := c.Read(buf); err == nil && rerr == nil {
				mu.Lock()
				replies[name] = buf[:n]
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	return replies
}

func TestSignedQuestionsGetSignedReplies(t *testing.T) {
	const address = "dns://127.0.0.1:0"
	s := start(t, address, ".:0 {\n bind 127.0.0.1\n fastudp\n tsig {\n secret "+tsigKey+" "+tsigSecret+
		"\n require all\n }\n echo\n}")
	for _, tt := range []struct {
		name, secret string
		age          time.Duration
		wantErr      error
		wantRcode    int
	}{
		{"good", tsigSecret, 0, nil, dns.RcodeSuccess},
		{"wrong secret", "d3Jvbmc=", 0, dns.ErrAuth, 0},
		{"too old", tsigSecret, time.Hour, dns.ErrTime, dns.RcodeNotAuth},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := new(dns.Msg)
			m.SetQuestion("a.plain.", dns.TypeTXT)
			m.SetTsig(tsigKey, dns.HmacSHA256, 300, time.Now().Add(-tt.age).Unix())
			c := &dns.Client{Timeout: patience, TsigSecret: map[string]string{tsigKey: tt.secret}}
			r, _, err := c.Exchange(m, s.Addr())
			switch {
			case tt.wantErr == nil && err != nil:
				t.Fatal(err)
			case tt.wantErr != nil && err == nil:
				t.Fatalf("no error, want one like %v\n%v", tt.wantErr, r)
			case err == nil && (r.Rcode != tt.wantRcode || r.IsTsig() == nil):
				t.Errorf("rcode %s, signed %v", dns.RcodeToString[r.Rcode], r.IsTsig() != nil)
			}
		})
	}
}

// rig answers datagrams without sockets: by a tenure of ours, and by miekg/dns's server as CoreDNS sets it up.
type rig struct {
	tenure *tenure
	lane   *lane
	srv    *dnsserver.Server
}

func newRig(t testing.TB) *rig {
	t.Helper()
	cfg := &dnsserver.Config{Zone: ".", Transport: "dns", ListenHosts: []string{""}, Port: "0",
		TsigSecret: map[string]string{tsigKey: tsigSecret}}
	cfg.AddPlugin(func(plugin.Handler) plugin.Handler { return echo{} })
	srv, err := dnsserver.NewServer("dns://:0", []*dnsserver.Config{cfg})
	if err != nil {
		t.Fatal(err)
	}
	tn := &tenure{}
	tn.prepare(srv, nil)
	return &rig{tenure: tn, srv: srv, lane: &lane{
		front: newFront("dns://rig", ""), out: newOutbox(), local: &net.UDPAddr{IP: net.IP{192, 0, 2, 1}, Port: 53},
	}}
}

var rigClient = netip.MustParseAddrPort("198.51.100.7:4242")

// ours returns the replies of fastudp to a datagram.
func (r *rig) ours(in []byte) [][]byte {
	r.tenure.serve(r.lane, mmsg.Received(in, rigClient))
	var replies [][]byte
	for i := range r.lane.out.queue {
		replies = append(replies, bytes.Clone(r.lane.out.queue[i].Data))
		r.lane.out.queue[i].release()
	}
	r.lane.out.queue = r.lane.out.queue[:0]
	return replies
}

// theirs returns the replies of miekg/dns's server.
func (r *rig) theirs(in []byte) [][]byte {
	conn := &oneDatagram{in: in, local: r.lane.local}
	s := &dns.Server{PacketConn: conn, UDPSize: mmsg.MaxDatagram, TsigSecret: r.srv.TsigSecret,
		Handler: dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) { r.srv.ServeDNS(r.tenure.ctx, w, m) })}
	_ = s.ActivateAndServe() // ends with the error of the second read, when the first datagram is answered
	return conn.replies
}

// oneDatagram is a net.PacketConn with one datagram to read.
type oneDatagram struct {
	net.PacketConn
	in      []byte
	read    bool
	local   net.Addr
	replies [][]byte
}

func (c *oneDatagram) ReadFrom(p []byte) (int, net.Addr, error) {
	if c.read {
		return 0, nil, errors.New("no more")
	}
	c.read = true
	return copy(p, c.in), net.UDPAddrFromAddrPort(rigClient), nil
}

func (c *oneDatagram) WriteTo(p []byte, _ net.Addr) (int, error) {
	c.replies = append(c.replies, bytes.Clone(p))
	return len(p), nil
}

func (c *oneDatagram) LocalAddr() net.Addr             { return c.local }
func (c *oneDatagram) SetReadDeadline(time.Time) error { return nil }
func (c *oneDatagram) Close() error                    { return nil }

func FuzzDatagramsAreAnsweredAsByTheLibrary(f *testing.F) {
	for _, in := range odd(f) {
		f.Add(in)
	}
	r := newRig(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > mmsg.MaxDatagram {
			t.Skip()
		}
		got, want := r.ours(in), r.theirs(in)
		if len(got) != len(want) {
			t.Fatalf("%d replies, want %d", len(got), len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) && !signed(want[i]) {
				t.Errorf("reply %x\n want %x", got[i], want[i])
			}
		}
	})
}

// signed says whether a reply ends with a TSIG record, which has the time of day in it.
func signed(reply []byte) bool {
	m := new(dns.Msg)
	return m.Unpack(reply) == nil && m.IsTsig() != nil
}
