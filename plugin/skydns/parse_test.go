package skydns

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestValuesThatCannotBeServedSayWhy(t *testing.T) {
	for _, tt := range []struct {
		value string
		want  Reason
	}{
		{`{"host":"1.1.1.1"`, ReasonJSON},
		{`oops`, ReasonJSON},
		{``, ReasonJSON},
		{`[]`, ReasonJSON},
		{`{ttl:60,text:Simpletext}`, ReasonJSON},
		{`{"host":1}`, ReasonJSON},
		{`{"host":"1.1.1.1","port":"http"}`, ReasonJSON},
		{`{"host":"1.1.1.1","port":80.5}`, ReasonJSON},
		{`{"host":"1.1.1.1","mail":"maybe"}`, ReasonJSON},
		{`{"host":"1.1.1.1","port":70000}`, ReasonNumber},
		{`{"host":"1.1.1.1","priority":65546}`, ReasonNumber},
		{`{"host":"1.1.1.1","priority":-1}`, ReasonNumber},
		{`{"host":"1.1.1.1","weight":-100}`, ReasonNumber},
		{`{"host":"1.1.1.1","ttl":-1}`, ReasonNumber},
		{`{"host":"1.1.1.1","ttl":2147483648}`, ReasonNumber},
		{`{"host":"1.1.1.1","ttl":1e300}`, ReasonNumber},
		{`{"host":"a..b"}`, ReasonHost},
		{`{"host":".a"}`, ReasonHost},
		{`{"host":"10.0.0.256"}`, ReasonHost},
		{`{"host":"010.0.0.1"}`, ReasonHost},
		{`{"host":"` + strings.Repeat("a", 64) + `"}`, ReasonHost},
		{`{"host":"` + strings.Repeat("abcdefg.", 32) + `"}`, ReasonHost},
		{`{"text":"` + strings.Repeat("x", 70000) + `"}`, ReasonText},
		{`{"type":"BOGUS","rdata":"x"}`, ReasonType},
		{`{"type":"CAA 0","rdata":"x"}`, ReasonType},
		{`{"type":"TYPE1 1.1.1.1 ;","rdata":"x"}`, ReasonType},
		{`{"type":"SOA","rdata":"a. b. 1 2 3 4 5"}`, ReasonType},
		{`{"type":"TYPE6","rdata":"a. b. 1 2 3 4 5"}`, ReasonType},
		{`{"type":"ANY","rdata":"x"}`, ReasonType},
		{`{"type":"OPT","rdata":"x"}`, ReasonType},
		{`{"type":"CAA","rdata":"0 issue \"x\"","host":"1.1.1.1"}`, ReasonType},
		{`{"rdata":"1.1.1.1"}`, ReasonType},
		{`{"type":"A","rdata":""}`, ReasonRData},
		{`{"type":"A","rdata":"1.1.1.1.1"}`, ReasonRData},
		{`{"type":"CAA","rdata":"0 issue"}`, ReasonRData},
		{`{"type":"TXT","rdata":"a\n. 0 IN A 1.1.1.1"}`, ReasonRData},
		{`{"type":"NS","rdata":"a..b."}`, ReasonRData},
	} {
		_, err := Parse([]byte(tt.value), 0)
		if got := ReasonOf(err); got != tt.want {
			t.Errorf("%.80s: got reason %q (%v), want %q", tt.value, got, err, tt.want)
		}
	}
}

func TestValuesThatPeopleWriteAreRead(t *testing.T) {
	for _, tt := range []struct {
		value string
		want  Value
	}{
		{`{}`, Value{}},
		{`null`, Value{}},
		{` {"host" : "1.1.1.1"} ` + "\n", Value{Host: "1.1.1.1"}},
		{`{"HOST":"1.1.1.1","Port":80}`, Value{Host: "1.1.1.1", Port: 80}},
		{`{"host":"1.1.1.1","port":"8080","ttl":"3000"}`, Value{Host: "1.1.1.1", Port: 8080, TTL: 3000}},
		{`{"host":"1.1.1.1","port":8080.0,"priority":null,"weight":""}`, Value{Host: "1.1.1.1", Port: 8080}},
		{`{"host":"1.1.1.1","mail":"true"}`, Value{Host: "1.1.1.1", Mail: true}},
		{`{"host":"1.1.1.1","unknown":{"a":[1]},"owner":"me"}`, Value{Host: "1.1.1.1"}},
		{`{"host":"1.1.1.1","targetstrip":9223372036854775807}`, Value{Host: "1.1.1.1", TargetStrip: 255}},
		{`{"host":"1.1.1.1","targetstrip":-3}`, Value{Host: "1.1.1.1"}},
		{`{"text":"tok","group":"g"}`, Value{Text: "tok", Group: "g"}},
		{`{"host":"fe80::1%eth0"}`, Value{Host: "fe80::1%eth0"}},
		{`{"type":"caa","rdata":"0 issue \"ca.example\""}`, Value{Type: "caa", RData: `0 issue "ca.example"`}},
	} {
		got, err := Decode([]byte(tt.value))
		if err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.value, got, err, tt.want)
		}
		if _, err := Parse([]byte(tt.value), 0); err != nil {
			t.Errorf("%s: %v", tt.value, err)
		}
	}
}

func TestHostsAreAddressesOrNames(t *testing.T) {
	for _, tt := range []struct {
		host string
		kind Kind
		want string // of the address or target
	}{
		{"10.0.0.1", IPv4, "10.0.0.1"},
		{"::ffff:10.0.0.1", IPv4, "10.0.0.1"}, // as in-tree
		{"2001:db8::1", IPv6, "2001:db8::1"},
		{"www.Example.org", Name, "www.Example.org."},
		{"www.example.org.", Name, "www.example.org."},
		{"_x._tcp.example.org", Name, "_x._tcp.example.org."},
		{"", NoHost, ""},
	} {
		r, err := Value{Host: tt.host}.Record(0)
		if err != nil {
			t.Errorf("%s: %v", tt.host, err)
			continue
		}
		got := r.Target()
		if r.Kind() == IPv4 || r.Kind() == IPv6 {
			got = r.Addr().String()
		}
		if r.Kind() != tt.kind || got != tt.want {
			t.Errorf("%s: got kind %d, %s, want %d, %s", tt.host, r.Kind(), got, tt.kind, tt.want)
		}
	}
}

func TestLongTextIsCutIntoStrings(t *testing.T) {
	for _, n := range []int{0, 1, 254, 255, 256, 509, 510, 511, maxText} {
		parts := SplitText(strings.Repeat("x", n))
		if got := strings.Join(parts, ""); len(got) != n {
			t.Errorf("%d bytes became %d", n, len(got))
		}
		for i, p := range parts {
			if len(p) > 255 || p == "" && n > 0 {
				t.Errorf("%d bytes: string %d has %d", n, i, len(p))
			}
		}
	}
	if got := SplitText(`C:\new\"x`); !slices.Equal(got, []string{`C:\\new\\"x`}) {
		t.Errorf("backslashes: %q", got)
	}
}

// FuzzParse: whatever is accepted can be packed and written again, and whatever is not has one of the reasons.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"host":"1.1.1.1","port":"8080","priority":1,"weight":2,"ttl":3,"mail":true,"group":"g","targetstrip":1}`,
		`{"host":"a.b","text":"\\065\u00e4"}`, `{"type":"HTTPS","rdata":"1 . alpn=h2"}`, `{"type":"TYPE65280","rdata":"\\# 1 00"}`,
		`{"type":"NAPTR","rdata":"1 2 \"s\" \"x\" \"\" a.b"}`, `{"type":"TXT","rdata":"("}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data, 1)
		if err != nil {
			if !slices.Contains(Reasons, ReasonOf(err)) {
				t.Fatalf("no reason in %v", err)
			}
			return
		}
		value, err := json.Marshal(r.Value())
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(value, 1); err != nil || !again.Same(r) {
			t.Fatalf("%s is not %s: %v", data, value, err)
		}
		m := new(dns.Msg)
		m.SetQuestion("example.", dns.TypeANY)
		if rr := r.RR(); rr != nil {
			m.Answer = append(m.Answer, dns.Copy(rr))
		}
		if r.Text() != "" {
			m.Answer = append(m.Answer, &dns.TXT{
				Hdr: dns.RR_Header{Name: "example.", Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: SplitText(r.Text()),
			})
		}
		if r.Kind() == Name {
			m.Answer = append(m.Answer, &dns.CNAME{
				Hdr: dns.RR_Header{Name: "example.", Rrtype: dns.TypeCNAME, Class: dns.ClassINET}, Target: r.Target(),
			})
		}
		for _, rr := range m.Answer {
			one := new(dns.Msg)
			one.SetQuestion("example.", dns.TypeANY)
			one.Answer = []dns.RR{rr}
			wire, err := one.Pack()
			if err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			back := new(dns.Msg)
			if err := back.Unpack(wire); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			if txt, ok := back.Answer[0].(*dns.TXT); ok && rr.Header().Rrtype == dns.TypeTXT && r.RR() == nil {
				var bytes int
				for _, s := range txt.Txt {
					bytes += len(s)
				}
				if bytes < len(r.Text()) {
					t.Fatalf("text of %d bytes lost some: %d", len(r.Text()), bytes)
				}
			}
		}
	})
}

// FuzzDecode: what encoding/json makes of a value with the right types, Decode makes of it as well.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"host":"a","port":1,"priority":2,"weight":3,"text":"t","mail":true,"ttl":4,"targetstrip":5,"group":"g"}`))
	f.Add([]byte(`{"host":"\u00e4\n","Text":"x","TEXT":"y"}`))
	f.Add([]byte(`{"port":007}`))
	f.Add([]byte(`{"port": - 1,"mail":truex}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if f, plain := decodePlain(data); plain {
			var want form
			if err := json.Unmarshal(data, &want); err != nil || f != want {
				t.Fatalf("%s: read as %+v, is %+v, %v", data, f, want, err)
			}
		}
		var want Value
		if json.Unmarshal(data, &want) != nil || want.TTL > MaxTTL {
			return
		}
		got, err := Decode(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if got != want {
			t.Fatalf("%s: got %+v, want %+v", data, got, want)
		}
	})
}

func TestReasonOfIsOneOfTheSet(t *testing.T) {
	if got := ReasonOf(errors.New("x")); got != "" {
		t.Errorf("got %q for an error of somebody else", got)
	}
	if MaxTTL != math.MaxInt32 {
		t.Errorf("RFC 2181, section 8: 31 bits, got %d", MaxTTL)
	}
}
