package skydns

import (
	"errors"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// The parser of presentation form takes records of an update, which have no data. In a reply clients take them for damage.
func TestRecordsWithoutDataAreRefused(t *testing.T) {
	for typ := range strings.FieldsSeq("A AAAA NS CNAME PTR MX TXT SRV CAA DS NAPTR SVCB HTTPS TLSA SSHFP LOC URI CERT " +
		"OPENPGPKEY DHCID SPF AVC NINFO RESINFO MB MG MINFO EID NIMLOC TYPE1 TYPE2 TYPE16") {
		for _, rdata := range []string{`\# 0`, ";x", "()", "( ) ; y"} {
			if rr, err := parseRR(typ, rdata); !errors.Is(err, ReasonRData) {
				t.Errorf("%s %s: got %v, %v", typ, rdata, rr, err)
			}
		}
	}
}

// Data in the generic form may end too early, or go on for too long.
func TestRecordsThatLackFieldsAreRefused(t *testing.T) {
	for _, line := range []string{
		`MX \# 2 0001`, `SRV \# 6 000100010001`, `TLSA \# 1 03`, `A \# 3 c00002`, `A \# 5 c000020101`, `NAPTR \# 4 00010001`,
		`TXT \# 3 026869ff`, `TYPE15 \# 2 0001`,
	} {
		typ, rdata, _ := strings.Cut(line, " ")
		if rr, err := parseRR(typ, rdata); !errors.Is(err, ReasonRData) {
			t.Errorf("%s: got %v, %v", line, rr, err)
		}
	}
}

func TestRecordsThatMayBeEmptyAreKept(t *testing.T) {
	for typ, rdata := range map[string]string{"TYPE65280": `\# 0`, "APL": "()", "TXT": `""`, "TYPE16": `\# 1 00`} {
		if rr, err := parseRR(typ, rdata); err != nil || rr == nil {
			t.Errorf("%s %s: got %v, %v", typ, rdata, rr, err)
		}
	}
}

// What is kept is what clients read, for every type that records are likely to have.
func TestRecordsSurviveTheWire(t *testing.T) {
	for _, line := range []string{
		"A 192.0.2.1", "AAAA 2001:db8::1", "NS ns.example.org.", "MX 10 mx.example.org.", "CNAME a.example.org.", `TXT "a" "b\255"`,
		"SRV 1 2 3 a.example.org.", `CAA 0 issue "ca.example"`, "PTR a.example.org.", `NAPTR 1 1 "u" "x" "!^.*$!a!" .`,
		"SVCB 1 . alpn=h2 port=53", "HTTPS 0 a.example.org.", "TLSA 3 1 1 AB", "SSHFP 1 1 ab", "DS 1 8 2 ab",
		"LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m", `URI 1 1 "https://a/"`, "OPENPGPKEY YQ==",
		"APL 1:192.0.2.0/24 !2:2001:db8::/32", `TYPE65280 \# 2 abcd`, `TYPE1 \# 4 c0000201`, `A \# 4 c0000201`,
		`MX \# 7 0001 0178 0179 00`, `TXT \#x`, `TLSA \# 4 030101ab`, `APL \# 0`,
	} {
		typ, rdata, _ := strings.Cut(line, " ")
		rr, err := parseRR(typ, rdata)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		buf := make([]byte, dns.MaxMsgSize)
		n, err := dns.PackRR(rr, buf, 0, nil, false)
		if err != nil || n <= emptyRR && !mayBeEmpty(rr) {
			t.Errorf("%s: %d bytes, %v", line, n, err)
		}
	}
}
