package forward

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coredns/caddy"

	"github.com/miekg/dns"
)

// parseText reads the forward blocks of a server block.
func parseText(text string) ([]*block, error) {
	c := caddy.NewTestController("dns", text)
	return parseBlocks(c)
}

// mustParse reads one forward block.
func mustParse(t testing.TB, text string) *block {
	t.Helper()
	blocks, err := parseText(text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	if len(blocks) != 1 {
		t.Fatalf("%d blocks, want 1", len(blocks))
	}
	return blocks[0]
}

// propertyRows are what each property must take and must refuse. The key is the property's name.
var propertyRows = map[string][]struct {
	text  string            // a line of the block
	check func(*block) bool // what a good line leads to; nil for a bad one
	err   string            // part of what is said about a bad line
}{
	"except": {
		{text: "except Example.org 10.0.0.0/23", check: func(b *block) bool {
			return slices.Equal(b.except, []string{"example.org.", "0.0.10.in-addr.arpa.", "1.0.10.in-addr.arpa."})
		}},
		{text: "except", err: "wrong argument count: accepted is"},
	},
	"hedge": {
		{text: "hedge off", check: func(b *block) bool { return !b.hedge.applies(b.policy) }},
		{text: "hedge on\npolicy sequential", check: func(b *block) bool {
			return b.hedge.applies(b.policy) && b.hedge.share == defaultShare && b.hedge.delay == 0
		}},
		{text: "hedge 50ms 2.5%", check: func(b *block) bool {
			return b.hedge.applies(sequential) && b.hedge.share == 0.025 && b.hedge.delay == 50*time.Millisecond
		}},
		{text: "hedge 50ms", check: func(b *block) bool { return b.hedge.share == defaultShare }},
		{text: "hedge", err: "wrong argument count: accepted is hedge off|on|DELAY [BUDGET%]"},
		{text: "hedge on 5%", err: "wrong argument count"},
		{text: "hedge soon", err: "hedge soon: accepted are off, on, and a duration"},
		{text: "hedge 1us", err: "at least 1ms"},
		{text: "hedge 50ms 5", err: "hedge: budget 5: accepted is a share"},
		{text: "hedge 50ms 0%", err: "more than 0%"},
		{text: "hedge 50ms 101%", err: "at most 100%"},
		{text: "hedge 50ms NaN%", err: "budget NaN%"},
	},
	"rate_limit": {
		{text: "rate_limit 900", check: func(b *block) bool { return b.rateLimit == 900 && b.rateBurst == 0 }},
		{text: "rate_limit 0.5 3", check: func(b *block) bool { return b.rateLimit == 0.5 && b.rateBurst == 3 }},
		{text: "rate_limit", err: "wrong argument count: accepted is rate_limit QPS [BURST]"},
		{text: "rate_limit 0", err: "rate_limit 0: accepted is a number"},
		{text: "rate_limit NaN", err: "rate_limit NaN: accepted is a number"},
		{text: "rate_limit 10 0", err: "burst 0: accepted is a number"},
		{text: "rate_limit 10 many", err: "burst many: accepted is a number"},
	},
	"max_in_flight": {
		{text: "max_in_flight 7", check: func(b *block) bool { return b.maxInFlight == 7 }},
		{text: "max_in_flight 0", err: "max_in_flight must be positive"},
		{text: "max_in_flight many", err: "accepted is a whole number"},
	},
	"lookup_interval": {
		{text: "lookup_interval 1s 1m", check: func(b *block) bool { return b.pace == pace{time.Second, time.Minute} }},
		{text: "lookup_interval 1s", err: "wrong argument count: accepted is lookup_interval LEAST MOST"},
		{text: "lookup_interval 1m 1s", err: "the shorter interval before the longer one"},
		{text: "lookup_interval 0s 1s", err: "at least 100ms"},
		{text: "lookup_interval never 1s", err: "lookup_interval never"},
	},
	"force_tcp": {
		{text: "force_tcp", check: func(b *block) bool { return b.forceTCP }},
		{text: "force_tcp yes", err: "wrong argument count: accepted is"},
	},
	"prefer_udp": {
		{text: "prefer_udp", check: func(b *block) bool { return b.preferUDP }},
		{text: "prefer_udp yes", err: "wrong argument count: accepted is"},
	},
	"expire": {
		{text: "expire 3s", check: func(b *block) bool { return b.expire == 3*time.Second }},
		{text: "expire 0s", check: func(b *block) bool { return b.expire == 0 }},
		{text: "expire -1s", err: "expire can't be negative: -1s"},
		{text: "expire soon", err: "expire soon: accepted is a duration"},
		{text: "expire", err: "wrong argument count: accepted is"},
	},
	"max_age": {
		{text: "max_age 20s", check: func(b *block) bool { return b.maxAge == 20*time.Second }},
		{text: "max_age 0s", check: func(b *block) bool { return b.maxAge == 0 }},
		{text: "max_age 9s", err: "max_age (9s) must not be less than expire (10s)"},
		{text: "max_age -1s", err: "max_age can't be negative"},
	},
	"max_idle_conns": {
		{text: "max_idle_conns 7", check: func(b *block) bool { return b.maxIdleConns == 7 }},
		{text: "max_idle_conns -1", err: "max_idle_conns can't be negative: -1"},
		{text: "max_idle_conns many", err: "accepted is a whole number"},
	},
	"read_timeout": {
		{text: "read_timeout 300ms", check: func(b *block) bool { return b.readTimeout == 300*time.Millisecond }},
		{text: "read_timeout 10s", check: func(b *block) bool { return b.budget == 10*time.Second }},
		{text: "read_timeout 0s", err: "read_timeout must be positive"},
		{text: "read_timeout -1s", err: "read_timeout can't be negative"},
	},
	"timeout": {
		{text: "timeout 3s", check: func(b *block) bool { return b.budget == 3*time.Second }},
		{text: "timeout 3s\nread_timeout 10s", check: func(b *block) bool { return b.budget == 3*time.Second }},
		{text: "timeout 0s", err: "timeout must be positive"},
		{text: "timeout", err: "wrong argument count: accepted is"},
	},
	"max_fails": {
		{text: "max_fails 3", check: func(b *block) bool { return b.maxFails == 3 }},
		{text: "max_fails 0", check: func(b *block) bool { return b.maxFails == 0 }},
		{text: "max_fails -1", err: "max_fails can't be negative: -1: accepted is a number from 0 to 4294967295"},
		{text: "max_fails 4294967296", err: "accepted is a number from 0 to 4294967295"},
	},
	"max_connect_attempts": {
		{text: "max_connect_attempts 4", check: func(b *block) bool { return b.attempts(1) == 4 }},
		{text: "max_connect_attempts 0", check: func(b *block) bool { return b.attempts(1) == 0 }},
		{text: "max_connect_attempts x", err: "max_connect_attempts x: accepted is a whole number"},
	},
	"doh_method": {
		{text: "doh_method GET", check: func(b *block) bool { return b.dohMethod == http.MethodGet }},
		{text: "doh_method PUT", err: "doh_method must be either POST or GET, not PUT"},
	},
	"tls": {
		{text: "tls", check: func(b *block) bool { return b.tls != nil && b.tlsKey != "" }},
		{text: "tls nosuch.pem", err: "tls: error reading nosuch.pem"},
		{text: "tls a b c d", err: "wrong argument count: accepted is"},
	},
	"tls_servername": {
		{text: "tls_servername dns.example", check: func(b *block) bool { return b.serverName == "dns.example" }},
		{text: "tls_servername", err: "wrong argument count: accepted is"},
	},
	"policy": {
		{text: "policy random", check: func(b *block) bool { return b.policy == random }},
		{text: "policy round_robin", check: func(b *block) bool { return b.policy == roundRobin }},
		{text: "policy least_latency", check: func(b *block) bool { return b.policy == leastLatency }},
		{text: "policy sequential", check: func(b *block) bool { return b.policy == sequential }},
		{text: "policy fastest", err: "unknown policy 'fastest': accepted are random, round_robin, sequential and least_latency"},
	},
	"health_check": {
		{text: "health_check 3s", check: func(b *block) bool {
			return b.probe.Interval == 3*time.Second && b.probe.Domain == "." && b.probe.RecursionDesired
		}},
		{text: "health_check 1s no_rec domain Example.org", check: func(b *block) bool {
			return b.probe.Domain == "example.org." && !b.probe.RecursionDesired
		}},
		{text: "health_check 1s domain example.org no_rec", check: func(b *block) bool {
			return b.probe.Domain == "example.org." && !b.probe.RecursionDesired
		}},
		{text: "health_check 1ns", check: func(b *block) bool { return b.probe.Interval == minProbeInterval }},
		{text: "health_check 0s", err: "health_check must be positive"},
		{text: "health_check -1s", err: "health_check can't be negative"},
		{text: "health_check 1s domain", err: "wrong argument count: accepted is health_check DURATION"},
		{text: "health_check 1s domain a..b", err: "health_check: invalid domain name a..b"},
		{text: "health_check 1s often", err: "health_check: unknown option often: accepted are no_rec, domain FQDN, rcode"},
		{text: "health_check 1s rcode SERVFAIL refused periodic domain example.org", check: func(b *block) bool {
			return slices.Equal(b.probe.FailRcodes, []int{dns.RcodeServerFailure, dns.RcodeRefused}) && b.probe.Periodic &&
				b.probe.Domain == "example.org."
		}},
		{text: "health_check 1s", check: func(b *block) bool { return len(b.probe.FailRcodes) == 0 && !b.probe.Periodic }},
		{text: "health_check 1s rcode periodic", err: "wrong argument count"},
		{text: "health_check 1s rcode NOPE", err: "health_check rcode: NOPE is not a valid rcode"},
		{text: "health_check 1s rcode NOERROR", err: "health_check rcode: NOERROR is what a sound upstream says"},
		{text: "health_check", err: "wrong argument count: accepted is"},
	},
	"max_concurrent": {
		{text: "max_concurrent 1000", check: func(b *block) bool { return b.maxConcurrent == 1000 }},
		{text: "max_concurrent many", err: "invalid syntax"},
		{text: "max_concurrent -4", err: "max_concurrent can't be negative: -4"},
	},
	"next": {
		{text: "next NXDOMAIN servfail", check: func(b *block) bool {
			return slices.Equal(b.rules.next, []int{dns.RcodeNameError, dns.RcodeServerFailure})
		}},
		{text: "next", err: "wrong argument count: accepted is"},
		{text: "next NXDOMAIN NOSUCH", err: "next: NOSUCH is not a valid rcode"},
	},
	"next_on_nodata": {
		{text: "next_on_nodata", check: func(b *block) bool { return b.rules.nextOnNodata }},
		{text: "next_on_nodata x", err: "wrong argument count: accepted is"},
	},
	"failfast_all_unhealthy_upstreams": {
		{text: "failfast_all_unhealthy_upstreams", check: func(b *block) bool { return b.failfast }},
		{text: "failfast_all_unhealthy_upstreams false", err: "wrong argument count: accepted is"},
	},
	"failover": {
		{text: "failover ServFail REFUSED", check: func(b *block) bool {
			return slices.Equal(b.rules.failover, []int{dns.RcodeServerFailure, dns.RcodeRefused})
		}},
		{text: "failover NOERROR", err: "NoError cannot be used in failover"},
		{text: "failover NOSUCH", err: "failover: NOSUCH is not a valid rcode"},
		{text: "failover", err: "wrong argument count: accepted is"},
	},
	"source_address": {
		{text: "source_address 192.0.2.1", check: func(b *block) bool { return b.source.String() == "192.0.2.1" }},
		{text: "source_address ::ffff:192.0.2.1", check: func(b *block) bool { return b.source.String() == "192.0.2.1" }},
		{text: "source_address 2001:db8::1", check: func(b *block) bool { return b.source.String() == "2001:db8::1" }},
		{text: "source_address eth0", err: "source_address: invalid IP address: eth0"},
		{text: "source_address", err: "wrong argument count: accepted is source_address IP"},
	},
	"resolver": {
		{text: "resolver 10.0.0.1 [2001:db8::1]:5353 2001:db8::2", check: func(b *block) bool {
			return slices.Equal(b.resolvers, []netip.AddrPort{netip.MustParseAddrPort("10.0.0.1:53"),
				netip.MustParseAddrPort("[2001:db8::1]:5353"), netip.MustParseAddrPort("[2001:db8::2]:53")})
		}},
		{text: "resolver 10.0.0.1:nosuch", check: func(b *block) bool { return b.ownResolvers && len(b.resolvers) == 0 }},
		{text: "resolver dns.example", err: `resolver must be an IP address or IP:port: "dns.example"`},
		{text: "resolver", err: "wrong argument count: accepted is"},
	},
}

func TestEveryPropertyTakesGoodAndRefusesBadLines(t *testing.T) {
	for name := range properties {
		good, bad := false, false
		for _, row := range propertyRows[name] {
			good, bad = good || row.check != nil, bad || row.check == nil
		}
		if !good || !bad {
			t.Errorf("property %s has no good or no bad row", name)
		}
	}
	for name, rows := range propertyRows {
		if properties[name].parse == nil {
			t.Errorf("%s is no property", name)
		}
		for _, row := range rows {
			blocks, err := parseText(fmt.Sprintf("forward . 127.0.0.1 {\n%s\n}", row.text))
			switch {
			case row.check == nil && err == nil:
				t.Errorf("%s: taken, want an error with %q", row.text, row.err)
			case row.check == nil && !strings.Contains(err.Error(), row.err):
				t.Errorf("%s: error %v, want one with %q", row.text, err, row.err)
			case row.check != nil && err != nil:
				t.Errorf("%s: %v", row.text, err)
			case row.check != nil && !row.check(blocks[0]):
				t.Errorf("%s: read as %+v", row.text, blocks[0])
			}
		}
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	for _, tt := range []struct{ text, where string }{
		{"forward . 127.0.0.1 {\n max_fails 1\n expire soon\n}", "Testfile:3 "},
		{"\nforward . 127.0.0.1:53 /etc/nosuch/file", "Testfile:2 "},
		{"forward .", "Testfile:1 "},
		{"forward . 127.0.0.1 {\n blaat\n}", "Testfile:2 "},
	} {
		_, err := parseText(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.where) {
			t.Errorf("%q: error %v, want one that says %s", tt.text, err, tt.where)
		}
	}
}

func TestAnUnknownPropertyIsToldWhatIsAccepted(t *testing.T) {
	_, err := parseText("forward . 127.0.0.1 {\n blaat\n}")
	if err == nil || !strings.Contains(err.Error(), "unknown property 'blaat'") ||
		!strings.Contains(err.Error(), "max_concurrent") {
		t.Errorf("error %v", err)
	}
}

func TestABadFirstLineIsToldWhatIsAccepted(t *testing.T) {
	for text, want := range map[string]string{
		"forward":                        "FROM and TO are missing: accepted is forward FROM TO...",
		"forward .":                      "TO is missing behind FROM .: accepted is forward FROM TO...",
		"forward . foo://127.0.0.1":      "foo://127.0.0.1: accepted is [dns://|tls://|https://|https3://|quic://]",
		"forward . grpc://127.0.0.1":     "grpc://127.0.0.1: accepted is [dns://|tls://|https://|https3://|quic://]",
		"forward . foo://127.0.0.1:5353": "foo://127.0.0.1:5353: accepted is [dns://|tls://|https://|https3://|quic://]",
	} {
		_, err := parseText(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

func TestFromIsADomainOrANetwork(t *testing.T) {
	long := strings.Repeat("x", 64)
	for _, tt := range []struct {
		from string
		want []string // nil: an error
	}{
		{".", []string{"."}},
		{"Example.ORG", []string{"example.org."}},
		{"dns://example.org:53", []string{"example.org."}},
		{"10.9.0.0/16", []string{"9.10.in-addr.arpa."}},
		{"10.9.8.0/23", []string{"8.9.10.in-addr.arpa.", "9.9.10.in-addr.arpa."}},
		{long, nil},
	} {
		blocks, err := parseText("forward " + tt.from + " 127.0.0.1")
		if tt.want == nil {
			if err == nil || !strings.Contains(err.Error(), "unable to normalize '"+tt.from+"'") {
				t.Errorf("%s: error %v", tt.from, err)
			}
			continue
		}
		if err != nil || !slices.Equal(blocks[0].zones, tt.want) {
			t.Errorf("%s: zones %v, error %v, want %v", tt.from, blocks, err, tt.want)
		}
	}
}

func TestDefaultsAreThoseOfTheInTreePlugin(t *testing.T) {
	b := mustParse(t, "forward . 127.0.0.1")
	if b.expire != 10*time.Second || b.maxAge != 0 || b.readTimeout != 2*time.Second || b.budget != 5*time.Second ||
		b.maxFails != 2 || b.attempts(3) != 6 || b.maxConcurrent != 0 || b.policy != random || b.dohMethod != "POST" ||
		b.probe.Interval != 500*time.Millisecond || b.probe.Domain != "." || !b.probe.RecursionDesired || b.failfast {
		t.Errorf("defaults %+v", b)
	}
}

func TestSeveralBlocksKeepTheirOrder(t *testing.T) {
	blocks, err := parseText("forward a.example 127.0.0.1\nforward b.example 127.0.0.2 {\n max_fails 1\n}\nforward . ::1")
	if err != nil || len(blocks) != 3 || blocks[1].zones[0] != "b.example." || blocks[1].maxFails != 1 {
		t.Fatalf("%d blocks, error %v", len(blocks), err)
	}
}
